import { sql } from 'kysely'
import { inTransaction } from '../../store/database.ts'
import type { DepositBook } from '../deposits/deposits.ts'
import type { ServiceDepositRow } from '../tables.ts'
import type { Faults } from './faults.ts'

const batchMax = 200
const pageMax = 1000

/**
 * Injects the reopening of settled deposits: after the delay they are reported as forwarding again, and as settled when
 * the fault no longer affects them. Nothing is sent.
 * @returns how many statuses changed
 */
export async function reopenDeposits({
  db,
  deposits,
  faults,
}: DepositBook & { faults: Faults }): Promise<number> {
  const due = await dueDeposits(db, faults)
  if (due.length === 0) return 0
  const [settled, reopened] = [
    due.filter(({ status }) => status === 'settled'),
    due.filter(({ status }) => status !== 'settled'),
  ]
  return inTransaction(db, async (tx) => {
    const again = await deposits.change(
      tx,
      ['settled'],
      settled.map(({ id }) => ({ id, status: 'forwarding' })),
    )
    const ended = await deposits.change(
      tx,
      ['forwarding'],
      reopened.map(({ id }) => ({ id, status: 'settled' })),
    )
    return again.length + ended.length
  })
}

/** The first due deposits, read page by page, because most settled deposits are not affected. */
async function dueDeposits(db: DepositBook['db'], faults: Faults): Promise<ServiceDepositRow[]> {
  const { reopenRate, delayMs } = faults.current()
  const isDue = (row: ServiceDepositRow) => faults.strikes('reopenRate', row) === (row.status === 'settled')
  const due: ServiceDepositRow[] = []
  for (let after = 0n; due.length < batchMax; ) {
    const { rows } = await sql<ServiceDepositRow>`
      select * from service.deposit
      where sequence > ${after} and ((status = 'forwarding' and to_at is not null)
        or (${reopenRate > 0} and status = 'settled'
          and updated_at < clock_timestamp() - make_interval(secs => ${delayMs / 1000})))
      order by sequence limit ${pageMax}`.execute(db)
    due.push(...rows.filter(isDue))
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageMax) break
    after = last.sequence
  }
  return due.slice(0, batchMax)
}
