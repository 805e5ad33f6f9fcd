import type { Address, AssetKey, TxId } from '../core/asset.ts'
import type { Amount } from '../core/money.ts'

type FaucetPayment = { asset: AssetKey; to: Address; amount: Amount }

/** Calls may run in parallel. */
export type Faucet = {
  payer: Address
  /** Sends new or spare money; returns after it has arrived. */
  fund(to: Address, asset: AssetKey, amount: Amount): Promise<void>
  /** Returns after the node has accepted the transaction. */
  pay(payment: FaucetPayment): Promise<TxId>
  /**
   * @returns the block or slot
   * @throws Error if the chain rejected it
   */
  landed(transaction: TxId): Promise<bigint>
  /** In base units, as of the newest block. */
  balance: (of: Address, asset: AssetKey) => Promise<bigint>
}

export type TestToken = { symbol: string; name: string }

/** In the order of deployment, which determines each address. */
export const testTokens = [
  { symbol: 'USDC', name: 'USD Coin (test)' },
  { symbol: 'USDT', name: 'Tether USD (test)' },
] as const satisfies readonly TestToken[]

export const tokenDecimals = 6
