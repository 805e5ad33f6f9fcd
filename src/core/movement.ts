import type { Address, AssetKey, NetworkName, TxId } from './asset.ts'

/**
 * A change of what a watched address holds that is nobody's payment to it: what it paid, the fee it bore, what it
 * wrapped, rent that came back. `change` is signed and never zero. Balances are proved by it; it is never booked.
 */
export type BalanceMovement = {
  network: NetworkName
  tx: TxId
  index: string
  asset: AssetKey
  address: Address
  change: bigint
  height: bigint
  blockHash: string
}
