import type { Address, AssetKey, NetworkName, TxId } from './asset.ts'

/**
 * A change of a watched address's balance that is not a payment to it: an outgoing payment, a fee that it bore, a wrap,
 * returned rent. `change` is signed and never zero. Movements prove balances; they are never booked.
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
