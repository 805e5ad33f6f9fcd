import type { Address, AssetKey, TxId } from '../core/asset.ts'
import type { Amount } from '../core/money.ts'

type FaucetPayment = { asset: AssetKey; to: Address; amount: Amount }

/** Money of a local chain. Every transfer is a real transaction. May be called any number of times at once. */
export type Faucet = {
  /** Who pays in `pay`. */
  payer: Address
  /** Gives new or spare money; returns when it has arrived. */
  fund(to: Address, asset: AssetKey, amount: Amount): Promise<void>
  /** Pays as a customer would; returns when the node took the transaction. */
  pay(payment: FaucetPayment): Promise<TxId>
  /** Returns the block or slot that holds the transaction. Throws where the chain refused it. */
  landed(transaction: TxId): Promise<bigint>
  /** What an address holds, in base units, as of the newest block. */
  balance: (of: Address, asset: AssetKey) => Promise<bigint>
}
