import { type Kysely, sql, type Transaction } from 'kysely'
import { Fault } from '../../core/errors.ts'
import type { FrozenBalanceLine } from '../../ledger/frozen-balance.ts'
import type { Period } from '../../ledger/period.ts'
import type { Tables } from '../tables.ts'

/** A change of a month's state. A `forced` close leaves severe mismatches open. */
export type PeriodChange = {
  period: Period
  action: 'soft_closed' | 'closed' | 'reopened'
  by: string
  approvedBy: string | null
  reason: string | null
  forced: boolean
}

/** One line of a month's history. */
export type PeriodEvent = {
  id: bigint
  at: Date
  /** Open severe mismatches of the month or of an earlier one. */
  severeOpen: number
  /** The last journal written before; null for a reopening. */
  lastJournal: bigint | null
}

/**
 * @throws Fault `usage_bad` if Postgres would reject the change, or if the month is before the beginning of the books
 */
export async function refusePeriodChange(
  db: Kysely<Tables>,
  { period, action, forced }: PeriodChange,
): Promise<void> {
  if (action !== 'reopened') await refuseBeforeBooks(db, period)
  await sql`select check_period_change(${`${period}-01`}::date, ${action}, ${forced})`
    .execute(db)
    .catch(explainRefusal)
}

/** A month without bookings would close all months before it, and would appear in no list. */
async function refuseBeforeBooks(db: Kysely<Tables>, period: Period): Promise<void> {
  const { rows } = await sql<{ begin: string | null }>`
    select to_char(ledger_month(min(event_at)), 'YYYY-MM') as begin from ledger_transfer`.execute(db)
  const begin = rows[0]?.begin ?? null
  if (begin === null || period >= begin) return
  const fix = `close ${begin} first: months are closed in order, and what is older is closed with it`
  throw new Fault('usage_bad', { problem: `the books begin in ${begin}, and ${period} is before that`, fix })
}

/** Open severe mismatches that do not block the close of a month because they are from a later time. */
export async function severeElsewhere(
  db: Kysely<Tables>,
  period: Period,
): Promise<{ kind: string; count: number }[]> {
  const { rows } = await sql<{ kind: string; count: number }>`
    select m.kind, count(*)::integer as count
    from open_mismatch m left join deposit d on d.id = m.deposit_id
    where m.severity = 'severe'
      and coalesce(d.deposited_at, m.opened_at) >= (${`${period}-01`}::date + interval '1 month') at time zone 'UTC'
    group by m.kind order by m.kind`.execute(db)
  return rows
}

/**
 * Records a change in the history, from which the state of the month follows, in the same transaction.
 * @param sha256 of the frozen trial balance; null unless the close is final
 * @throws Fault `usage_bad` if the rules of periods reject the change
 */
export async function recordPeriodChange(
  tx: Transaction<Tables>,
  { period, action, by, approvedBy, reason, forced }: PeriodChange,
  sha256: string | null,
): Promise<PeriodEvent> {
  const { rows } = await sql<PeriodEvent>`
    insert into ledger_period_event (period, action, actor, approved_by, reason, forced, sha256)
    values (${`${period}-01`}::date, ${action}, ${by}, ${approvedBy}, ${reason}, ${forced}, ${sha256})
    returning id, at, severe_open as "severeOpen", last_journal as "lastJournal"`
    .execute(tx)
    .catch(explainRefusal)
  const [event] = rows
  if (event === undefined) throw new Error('invariant broken: what is inserted is returned')
  return event
}

/** Stores the trial balance of a close. */
export async function freezeBalance(
  tx: Transaction<Tables>,
  eventId: bigint,
  lines: readonly FrozenBalanceLine[],
): Promise<void> {
  await sql`
    insert into ledger_period_balance (event_id, account, asset, debit, credit)
    select ${eventId}::bigint, * from unnest(
      ${lines.map(({ account }) => account)}::text[], ${lines.map(({ asset }) => asset)}::text[],
      ${lines.map(({ debit }) => debit.toString())}::numeric[],
      ${lines.map(({ credit }) => credit.toString())}::numeric[]
    )`.execute(tx)
}

/** Sums of the journals with ids above `after` and up to `upTo`, in the books of a month and of all earlier months. */
export async function sumJournals(
  db: Kysely<Tables>,
  { period, after, upTo }: { period: Period; after: bigint; upTo: bigint },
): Promise<FrozenBalanceLine[]> {
  const { rows } = await sql<{ account: string; asset: string; debit: string; credit: string }>`
    select account, asset, sum(debited)::text as debit, sum(credited)::text as credit
    from (
      select debit, credit, asset, sum(amount) as amount from ledger_transfer
      where journal_id > ${after} and journal_id <= ${upTo} and period <= ${`${period}-01`}::date
      group by debit, credit, asset
    ) as pair cross join lateral (values (debit, amount, 0), (credit, 0, amount)) as side (account, debited, credited)
    group by account, asset`.execute(db)
  return rows.map(({ debit, credit, ...row }) => ({ ...row, debit: BigInt(debit), credit: BigInt(credit) }))
}

/** The code with which `check_period_change` rejects a change. Its message and hint are for people. */
const refusalCode = 'DP001'

function explainRefusal(error: unknown): never {
  if (!(error instanceof Error && 'code' in error && error.code === refusalCode)) throw error
  const fix = 'hint' in error ? String(error.hint) : ''
  throw new Fault('usage_bad', { problem: error.message, fix }, { cause: error })
}
