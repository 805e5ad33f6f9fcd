import type { NetworkSettings } from '../../core/asset.ts'
import { stableAsset } from '../catalog.ts'
import { showAddress } from '../keyring/keyring.ts'
import type { WithdrawalRow, WithdrawalStatus } from '../tables.ts'

export type WithdrawalRecord = {
  id: string
  status: WithdrawalStatus
  network: string
  recipient: string
  asset: string
  decimals: number
  amount: string
  /** Null until it is signed. */
  transaction: string | null
  settled_at: string | null
  created_at: string
  updated_at: string
}

export function withdrawalWriter(
  networks: readonly NetworkSettings[],
): (row: WithdrawalRow) => WithdrawalRecord {
  const families = new Map(networks.map(({ name, family }) => [name, family]))
  return (row) => {
    const family = families.get(row.network)
    return {
      id: row.id,
      status: row.status,
      network: row.network,
      recipient: family === undefined ? row.recipient : showAddress(family, row.recipient),
      asset: stableAsset.symbol,
      decimals: stableAsset.decimals,
      amount: row.amount,
      transaction: row.transaction,
      settled_at: row.settled_at?.toISOString() ?? null,
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
    }
  }
}
