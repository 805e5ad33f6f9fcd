import type { Address, AssetKey, TxId } from '../core/asset.ts'
import type { Amount } from '../core/money.ts'

type FaucetPayment = { asset: AssetKey; to: Address; amount: Amount }

/** Source of money on a local chain. Every payment is a real transaction. Calls may run in parallel. */
export type Faucet = {
  /** The sender in `pay`. */
  payer: Address
  /** Sends new or spare money; returns after it has arrived. */
  fund(to: Address, asset: AssetKey, amount: Amount): Promise<void>
  /** Pays as a customer would; returns after the node has accepted the transaction. */
  pay(payment: FaucetPayment): Promise<TxId>
  /**
   * @returns the block or slot that holds the transaction
   * @throws Error if the chain rejected it
   */
  landed(transaction: TxId): Promise<bigint>
  /** The balance of an address in base units, as of the newest block. */
  balance: (of: Address, asset: AssetKey) => Promise<bigint>
}
