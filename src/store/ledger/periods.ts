import { type Kysely, sql, type Transaction } from 'kysely'
import { Fault } from '../../core/errors.ts'
import type { FrozenBalanceLine, Period } from '../../ledger/period.ts'
import { asTable, inPieces } from '../database.ts'
import type { Tables } from '../tables.ts'

/** A `forced` close leaves severe mismatches open. */
export type PeriodChange = {
  period: Period
  action: 'soft_closed' | 'closed' | 'reopened'
  by: string
  approvedBy: string | null
  /** What they signed; absent if the owner of the database changes it without signatures. */
  decision?: bigint | null
  reason: string | null
  forced: boolean
}

export type PeriodEvent = {
  id: bigint
  at: Date
  /** Of the month or an earlier one. */
  severeOpen: number
  /** The last one written before; null for a reopening. */
  lastJournal: bigint | null
}

/**
 * @throws Fault `usage_bad` if Postgres would reject the change, or if the month is before the beginning of the books
 */
export async function refusePeriodChange(
  db: Kysely<Tables>,
  { period, action, forced }: Pick<PeriodChange, 'period' | 'action' | 'forced'>,
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
  const fix = `close ${begin} first: months are closed in order, and earlier months close with it`
  throw new Fault('usage_bad', { problem: `${period} is before the beginning of the books in ${begin}`, fix })
}

/** They do not block the close: they are from a later time. */
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
 * The state of a month follows from this history, in the same transaction.
 * @param sha256 of the frozen trial balance; null unless the close is final
 * @throws Fault `usage_bad` if the rules of periods reject the change
 */
export async function recordPeriodChange(
  tx: Transaction<Tables>,
  { period, action, by, approvedBy, decision = null, reason, forced }: PeriodChange,
  sha256: string | null,
): Promise<PeriodEvent> {
  const { rows } = await sql<PeriodEvent>`
    with changed as (
      insert into ledger_period_event (period, action, actor, approved_by, decision_id, reason, forced, sha256)
      values (${`${period}-01`}::date, ${action}, ${by}, ${approvedBy}, ${decision}::bigint, ${reason}, ${forced}, ${sha256})
      returning *
    ), recorded as (
      insert into event_pending (type, data)
      select 'period.closed', jsonb_build_object('period', to_char(period, 'YYYY-MM'), 'by', actor,
        'last_journal', last_journal::text, 'sha256', sha256)
      from changed where action = 'closed'
    )
    select id, at, severe_open as "severeOpen", last_journal as "lastJournal" from changed`
    .execute(tx)
    .catch(explainRefusal)
  const [event] = rows
  if (event === undefined) throw new Error('invariant broken: what is inserted is returned')
  return event
}

export async function freezeBalance(
  tx: Transaction<Tables>,
  eventId: bigint,
  lines: readonly FrozenBalanceLine[],
): Promise<void> {
  await sql`
    insert into ledger_period_balance (event_id, account, asset, debit, credit)
    select ${eventId}::bigint, *
    from ${asTable('line', lines, 'account text, asset text, debit numeric, credit numeric')}`.execute(tx)
}

/** Sums journals with ids above `after` and up to `upTo`, in the books of a month and all earlier ones. */
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

const refusalCode = 'DP001'

function explainRefusal(error: unknown): never {
  if (!(error instanceof Error && 'code' in error && error.code === refusalCode)) throw error
  const fix = 'hint' in error ? String(error.hint) : ''
  throw new Fault('usage_bad', { problem: error.message, fix }, { cause: error })
}

/** As in `accounting.periods`. */
export type PeriodLine = {
  period: string
  state: 'open' | 'soft_closed' | 'closed'
  journals: bigint
  late_journals: bigint
  closed_at: Date | null
  closed_by: string | null
  approved_by: string | null
  reason: string | null
  forced: boolean | null
  severe_open: number | null
  sha256: string | null
  reopened: bigint
}

/** Newest first, before a month like `2026-01`. */
export async function listPeriods(
  db: Kysely<Tables>,
  { limit, before = null }: { limit: number; before?: string | null },
): Promise<PeriodLine[]> {
  const { rows } = await sql<PeriodLine>`
    select to_char(period, 'YYYY-MM') as period, state, journals, late_journals, closed_at, closed_by, approved_by,
      reason, forced, severe_open, sha256, reopened
    from accounting.periods p
    where ${before}::text is null or p.period < to_date(${before}::text, 'YYYY-MM')
    order by p.period desc limit ${limit}`.execute(db)
  return rows
}

export type PeriodHistoryLine = {
  id: bigint
  period: string
  action: 'soft_closed' | 'closed' | 'reopened'
  at: Date
  actor: string
  approved_by: string | null
  decision_id: bigint | null
  reason: string | null
  forced: boolean
  severe_open: number
  last_journal: bigint | null
  sha256: string | null
}

/** Newest first, with ids below `before`. */
export async function listPeriodHistory(
  db: Kysely<Tables>,
  { limit, before = null }: { limit: number; before?: bigint | null },
): Promise<PeriodHistoryLine[]> {
  const { rows } = await sql<PeriodHistoryLine>`
    select id, to_char(period, 'YYYY-MM') as period, action, at, actor, approved_by, decision_id, reason, forced,
      severe_open, last_journal, sha256
    from accounting.period_history where ${before}::bigint is null or id < ${before}::bigint
    order by id desc limit ${limit}`.execute(db)
  return rows
}

/** A final close, whether or not the month was reopened. */
export type PeriodClose = { id: bigint; period: Period; at: Date; sha256: string }

export async function closingsOf(db: Kysely<Tables>): Promise<PeriodClose[]> {
  const { rows } = await sql<PeriodClose>`
    select id, to_char(period, 'YYYY-MM') as period, at, sha256 from ledger_period_event
    where action = 'closed' order by id`.execute(db)
  return rows
}

type DebitCreditSums = Pick<FrozenBalanceLine, 'debit' | 'credit'>

/** Frozen, and summed from the journals up to the close; null on the side that lacks it. */
export type FrozenBesideMade = Pick<FrozenBalanceLine, 'account' | 'asset'> & {
  closingId: bigint
  frozen: DebitCreditSums | null
  made: DebitCreditSums | null
}

type FrozenBalanceRow = Pick<FrozenBesideMade, 'closingId' | 'account' | 'asset'> &
  Record<'frozenDebit' | 'frozenCredit' | 'madeDebit' | 'madeCredit', string | null>

/**
 * Each close in the order in which its lines are hashed. Reads the transfers once for all closes: sums them by month
 * and number of earlier closes.
 */
export async function* frozenBesideMade(tx: Transaction<Tables>): AsyncGenerator<FrozenBesideMade[]> {
  const query = sql<FrozenBalanceRow>`
    with closing as materialized (
      select id, period, rank() over (order by last_journal) - 1 as place, last_journal
      from ledger_period_event where action = 'closed'
    ), moved as materialized (
      select period, place, account, asset, sum(debited) as debit, sum(credited) as credit
      from (
        select period, width_bucket(journal_id, (select array_agg(last_journal + 1 order by last_journal) from closing)) as place,
          debit, credit, asset, sum(amount) as amount
        from ledger_transfer where exists (select from closing)
        group by 1, 2, 3, 4, 5
      ) as pair cross join lateral (values (debit, amount, 0), (credit, 0, amount)) as side (account, debited, credited)
      group by 1, 2, 3, 4
    ), made as (
      select c.id as event_id, account, asset, sum(debit) as debit, sum(credit) as credit
      from closing c join moved m on m.period <= c.period and m.place <= c.place
      group by 1, 2, 3
    )
    select event_id as "closingId", account, asset, frozen.debit::text as "frozenDebit",
      frozen.credit::text as "frozenCredit", made.debit::text as "madeDebit", made.credit::text as "madeCredit"
    from ledger_period_balance frozen full join made using (event_id, account, asset)
    order by event_id, account collate "C", asset collate "C"`
  for await (const rows of inPieces(tx, query)) yield rows.map(lineOf)
}

function lineOf({
  frozenDebit,
  frozenCredit,
  madeDebit,
  madeCredit,
  ...row
}: FrozenBalanceRow): FrozenBesideMade {
  return { ...row, frozen: sidesOf(frozenDebit, frozenCredit), made: sidesOf(madeDebit, madeCredit) }
}

function sidesOf(debit: string | null, credit: string | null): DebitCreditSums | null {
  return debit === null || credit === null ? null : { debit: BigInt(debit), credit: BigInt(credit) }
}

/** Closed months with journals from after the close. */
export async function findIntruders(
  db: Kysely<Tables>,
): Promise<{ period: string; journals: bigint; first: bigint }[]> {
  const { rows } = await sql<{ period: string; journals: bigint; first: bigint }>`
    with standing as materialized (
      select period, last_journal from ledger_period_event e
      where action = 'closed' and not exists (
        select from ledger_period_event r where r.period = e.period and r.action = 'reopened' and r.id > e.id
      )
    )
    select to_char(s.period, 'YYYY-MM') as period, count(*) as journals, min(j.id) as first
    from ledger_journal j
      join standing s on s.period = greatest(j.period, (select min(period) from standing)) and j.id > s.last_journal
    group by s.period order by s.period`.execute(db)
  return rows
}
