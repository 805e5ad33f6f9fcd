import type { DepositRecord } from '../deposits/record.ts'
import type { DepositStatus } from '../tables.ts'

const finished: readonly DepositStatus[] = ['settled', 'credited']

/** The second deposit that claims the payment of a settled one. It differs only in its id. */
export function claimAgain(record: DepositRecord): DepositRecord[] {
  return finished.includes(record.status) ? [{ ...record, id: againOf(record.id) }] : []
}

/**
 * The id of the second claim: the bytes of the first id, reversed. Applied twice it yields the first id, so nothing has
 * to be stored.
 */
export function againOf(id: string): string {
  const start = id.indexOf('_') + 1
  const bytes = Buffer.from(id.slice(start), 'hex')
  return id.slice(0, start) + Buffer.from(bytes.toReversed()).toString('hex')
}
