import { type Kysely, type RawBuilder, sql } from 'kysely'
import { Fault } from '../../core/errors.ts'
import { whereSet } from '../database.ts'
import type { Tables } from '../tables.ts'
import { cutLedger, patiently } from './maintenance.ts'

/** Times are ISO 8601 with a zone; null for no filter. */
export type JournalSelection = {
  from: string | null
  before: string | null
  /** A month like `2026-01`. */
  period: string | null
  /** Null if nothing was recorded yet. */
  recordedAsOf: string | null
  accounts: readonly string[] | null
  /** An owner's id, or its kind and id, such as `channel:shop`. */
  owner: string | null
}

export type LedgerJournalRow = {
  id: bigint
  posting_key: string
  kind: string
  deposit_id: bigint | null
  reverses: bigint | null
  reason: string | null
  period: string
  event_at: string
  recorded_at: string
}

export type LedgerTransferRow = {
  journal_id: bigint
  leg: number
  debit: string
  credit: string
  asset: string
  amount: string
}

export type JournalPageRequest = { after: bigint; limit: number }

export async function readJournals(
  db: Kysely<Tables>,
  selection: JournalSelection,
  { after, limit }: JournalPageRequest,
): Promise<{ journals: LedgerJournalRow[]; transfers: LedgerTransferRow[] }> {
  const conditions = [
    sql`j.id > ${after} and j.recorded_at <= ${selection.recordedAsOf}::timestamptz`,
    ...conditionsOf(selection),
  ]
  const { rows: journals } = await sql<LedgerJournalRow>`
    select j.id, j.posting_key, j.kind, j.deposit_id, j.reverses, m.reason, to_char(j.period, 'YYYY-MM') as period,
      ${isoText(sql.ref('j.event_at'))} as event_at, ${isoText(sql.ref('j.recorded_at'))} as recorded_at
    from ledger_journal j left join manual_journal m on m.journal_id = j.id
    where ${sql.join(conditions, sql` and `)}
    order by j.id limit ${limit}`.execute(db)
  if (journals.length === 0) return { journals, transfers: [] }
  const { rows: transfers } = await sql<LedgerTransferRow>`
    select t.journal_id, t.leg, t.debit, t.credit, t.asset, t.amount::text as amount
    from ledger_transfer t
    where t.journal_id = any(${journals.map(({ id }) => id)}::bigint[]) and ${withinMonths(journals)}
      ${selection.accounts === null ? sql`` : sql`and ${touches(selection.accounts)}`}
    order by t.journal_id, t.leg`.execute(db)
  return { journals, transfers }
}

function conditionsOf({ from, before, period, accounts, owner }: JournalSelection): RawBuilder<unknown>[] {
  return [
    ...whereSet(from, (time) => sql`j.event_at >= ${time}::timestamptz`),
    ...whereSet(before, (time) => sql`j.event_at < ${time}::timestamptz`),
    ...whereSet(period, (month) => sql`j.period = to_date(${month}, 'YYYY-MM')`),
    ...whereSet(
      accounts,
      (some) => sql`exists (select from ledger_transfer t
        where t.journal_id = j.id and t.recorded_at = j.recorded_at and ${touches(some)})`,
    ),
    ...whereSet(
      owner,
      (name) => sql`exists (select from deposit d
        where d.id = j.deposit_id and ${name} in (d.owner_id, d.owner_kind || ':' || d.owner_id))`,
    ),
  ]
}

function touches(accounts: readonly string[]): RawBuilder<unknown> {
  return sql`(t.debit = any(${accounts}::text[]) or t.credit = any(${accounts}::text[]))`
}

/** Transfers are partitioned by month of recording: limits the scan to partitions that can hold these journals. */
function withinMonths(journals: readonly LedgerJournalRow[]): RawBuilder<unknown> {
  const times = journals.map(({ recorded_at: at }) => at).toSorted()
  return sql`t.recorded_at between ${times[0]}::timestamptz and ${times.at(-1)}::timestamptz`
}

/** All six digits, in UTC regardless of the session's zone, so that the texts sort by time. */
function isoText(at: RawBuilder<unknown>): RawBuilder<string> {
  return sql`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
}

/**
 * The end of the books, or of what was recorded by then. No later write has that time or an earlier one, so an export
 * up to it is always the same. Its time is null if nothing was recorded.
 * @throws Fault `remote_failed` if writers do not finish; `usage_bad` if nothing is sealed and the login is read-only
 */
export async function readExtent(
  db: Kysely<Tables>,
  recordedAsOf: string | null,
): Promise<{ lastJournal: bigint; recordedAsOf: string | null }> {
  const lastJournal = await lastWhole(db)
  const newest = await sql<{ recorded_at: string | null }>`
    select ${isoText(sql`max(recorded_at)`)} as recorded_at from ledger_journal
    where id <= ${lastJournal}
      and recorded_at <= coalesce(${recordedAsOf}::timestamptz, 'infinity')`.execute(db)
  return { lastJournal, recordedAsOf: newest.rows[0]?.recorded_at ?? null }
}

/** All journals up to it are written or never will be. A login that may not block writers uses the last seal's. */
async function lastWhole(db: Kysely<Tables>): Promise<bigint> {
  const { rows } = await sql<{ may_cut: boolean; sealed: bigint | null }>`
    select has_function_privilege('ledger_cut()', 'execute') as may_cut,
      (select max(last_id) from seal where sealed_table = 'ledger_journal') as sealed`.execute(db)
  const [{ may_cut: mayCut, sealed } = { may_cut: true, sealed: null }] = rows
  // Writers wait for this transaction.
  if (mayCut) return (await patiently('exporting the books', () => cutLedger(db))).lastJournal
  if (sealed !== null) return sealed
  throw new Fault('usage_bad', {
    problem: 'a read-only login exports up to the last seal, and nothing is sealed yet',
    fix: 'run "bin/depositd ledger seal" with the DATABASE_URL of the daemon, or wait until the daemon seals',
  })
}

export type RevaluationRow = Pick<LedgerJournalRow, 'id' | 'kind' | 'period' | 'event_at' | 'recorded_at'>

/** Of the closes that came after journals recorded by then. None if only an account or an owner is selected. */
export async function readRevaluations(
  db: Kysely<Tables>,
  { from, before, period, recordedAsOf, accounts, owner }: JournalSelection,
): Promise<RevaluationRow[]> {
  if (accounts !== null || owner !== null) return []
  const conditions = [
    sql`v.kind <> 'journal' and l.recorded_at <= ${recordedAsOf}::timestamptz`,
    ...whereSet(from, (time) => sql`v.event_at >= ${time}::timestamptz`),
    ...whereSet(before, (time) => sql`v.event_at < ${time}::timestamptz`),
    ...whereSet(period, (month) => sql`v.period = to_date(${month}, 'YYYY-MM')`),
  ]
  const { rows } = await sql<RevaluationRow>`
    select v.id, v.kind, to_char(v.period, 'YYYY-MM') as period, ${isoText(sql.ref('v.event_at'))} as event_at,
      ${isoText(sql.ref('v.valued_at'))} as recorded_at
    from valued_journal v
      join ledger_period_event e on e.id = v.close_id
      join lateral (
        select recorded_at from ledger_journal where id <= e.last_journal order by id desc limit 1
      ) l on true
    where ${sql.join(conditions, sql` and `)}
    order by v.id`.execute(db)
  return rows
}

export type ValueLineRow = {
  /** Of the journal, or else of the revaluation. */
  id: bigint
  account: string
  asset: string | null
  units: string
  value: string
  price: string | null
}

export async function readValueLines(
  db: Kysely<Tables>,
  { journals, revaluations }: { journals: readonly bigint[]; revaluations: readonly bigint[] },
): Promise<ValueLineRow[]> {
  const { rows } = await sql<ValueLineRow>`
    select coalesce(v.journal_id, v.id) as id, l.account, l.asset,
      l.units::text as units, l.value::text as value, l.price::text as price
    from valued_journal v join valued_line l on l.valued_id = v.id
    where v.journal_id = any(${journals}::bigint[]) or v.id = any(${revaluations}::bigint[])
    order by l.valued_id, l.line`.execute(db)
  return rows
}

/** Accountants read what is valued. */
export async function mayValue(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select has_table_privilege('valued_line', 'insert') as may`.execute(db)
  return rows[0]?.may ?? false
}
