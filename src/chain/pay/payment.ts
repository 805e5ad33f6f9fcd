import type { Address, Asset, TxId } from '../../core/asset.ts'
import type { Amount } from '../../core/money.ts'

export type PaymentOrder = { asset: Asset; to: Address; amount: Amount }

export type PaymentSigningOptions = {
  /** The private key, as its file holds it. */
  key: string
  /** The most that the fee may come to, in base units of the native asset. On Solana the fee is fixed, and this is not asked. */
  feeMax: Amount
  /** Told of the transaction before it is sent, so that it is known whatever comes of sending it. */
  onSigned: (tx: TxId) => Promise<void>
}

/**
 * Makes one payment.
 * @throws Fault `remote_failed` or `settings_bad`; before `onSigned` nothing was paid, after it nobody knows
 */
export type Payer = (order: PaymentOrder, signing: PaymentSigningOptions) => Promise<void>
