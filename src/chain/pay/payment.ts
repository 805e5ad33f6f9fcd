import type { Address, Asset, TxId } from '../../core/asset.ts'
import type { Amount } from '../../core/money.ts'

export type PaymentOrder = { asset: Asset; to: Address; amount: Amount }

export type PaymentSigningOptions = {
  /** The private key, as its file holds it. */
  key: string
  /** The highest fee allowed, in base units of the native asset. Ignored on Solana, because the fee is fixed there. */
  feeMax: Amount
  /** Called with the transaction before it is sent, so that it is on record even if sending fails. */
  onSigned: (tx: TxId) => Promise<void>
}

/**
 * Makes one payment.
 * @throws Fault `remote_failed` or `settings_bad`. Before `onSigned`, nothing was paid; afterwards the outcome is
 * unknown.
 */
export type Payer = (order: PaymentOrder, signing: PaymentSigningOptions) => Promise<void>
