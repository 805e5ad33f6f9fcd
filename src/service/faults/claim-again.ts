import type { DepositRecord } from '../deposits/record.ts'
import type { DepositStatus } from '../tables.ts'

const finished: readonly DepositStatus[] = ['settled', 'credited']

/** The second deposit that claims the payment of one that is settled: the same in all but its id. */
export function claimAgain(record: DepositRecord): DepositRecord[] {
  return finished.includes(record.status) ? [{ ...record, id: againOf(record.id) }] : []
}

/**
 * The id of what tells of the same again: its bytes, from the end. That of the second leads back to the first, so that
 * nothing is kept of it.
 */
export function againOf(id: string): string {
  const start = id.indexOf('_') + 1
  const bytes = Buffer.from(id.slice(start), 'hex')
  return id.slice(0, start) + Buffer.from(bytes.toReversed()).toString('hex')
}
