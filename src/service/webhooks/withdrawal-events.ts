import type { NetworkSettings } from '../../core/asset.ts'
import { newId } from '../new-id.ts'
import type { ServiceTransaction, WithdrawalRow, WithdrawalStatus } from '../tables.ts'
import { withdrawalWriter } from '../transfers/withdrawal-record.ts'
import { type NewEvent, queueForAll, writeEvents } from './events.ts'

const statuses: readonly WithdrawalStatus[] = ['requested', 'sending', 'settled', 'failed']

export const withdrawalEvents: readonly string[] = statuses.map((status) => `withdrawal.${status}`)

/** Runs in the transaction of the status change. */
export async function reportWithdrawals(
  tx: ServiceTransaction,
  networks: readonly NetworkSettings[],
  rows: readonly WithdrawalRow[],
): Promise<void> {
  if (rows.length === 0) return
  const show = withdrawalWriter(networks)
  const events = rows.map((row): NewEvent => {
    const id = newId('evt')
    const type = `withdrawal.${row.status}`
    const data = { ...show(row), stable_wallet: row.wallet_id }
    const body = JSON.stringify({ id, type, created_at: row.updated_at.toISOString(), data })
    return { id, type, deposit_id: null, revision: null, body, created_at: row.updated_at }
  })
  await writeEvents(tx, events)
  await queueForAll(
    tx,
    events.map(({ id }) => id),
  )
}
