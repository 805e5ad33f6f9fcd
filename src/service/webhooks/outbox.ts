import type { ShowRecord } from '../deposits/record.ts'
import type { Faults } from '../faults/faults.ts'
import { postpone } from '../faults/webhook-faults.ts'
import { newId } from '../new-id.ts'
import type { DepositStatus, ServiceDepositRow, ServiceTransaction } from '../tables.ts'
import { type NewEvent, queueForAll, writeEvents } from './events.ts'

/** Runs in the transaction of the status change. */
export type Outbox = (tx: ServiceTransaction, rows: readonly ServiceDepositRow[]) => Promise<void>

const eventTypes: Record<DepositStatus, string> = {
  detected: 'deposit.detected',
  confirmed: 'deposit.confirmed',
  converting: 'deposit.converting',
  forwarding: 'deposit.forwarded',
  settled: 'deposit.settled',
  credited: 'deposit.credited',
  held: 'deposit.held',
  refunding: 'deposit.refunding',
  refunded: 'deposit.refunded',
  failed: 'deposit.failed',
}

export function openOutbox(show: ShowRecord, faults: Faults): Outbox {
  return async (tx, rows) => {
    if (rows.length === 0) return
    const events = rows.map((row) => eventOf(row, show))
    await writeEvents(tx, events)
    await queueForAll(
      tx,
      events.map(({ id }) => id),
    )
    await postpone(tx, rows, faults)
  }
}

function eventOf(row: ServiceDepositRow, show: ShowRecord): NewEvent {
  const id = newId('evt')
  const type = eventTypes[row.status]
  const body = JSON.stringify({ id, type, created_at: row.updated_at.toISOString(), data: show(row) })
  return { id, type, deposit_id: row.id, revision: row.revision, body, created_at: row.updated_at }
}

export const depositEvents: readonly string[] = Object.values(eventTypes)
