import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { LedgerTransfer } from '../../core/booking-targets.ts'
import type { DepositJournalKind, Journal } from '../../core/posting.ts'
import { withdrawCreditSafety } from '../books/credit-safety.ts'
import { asTable, whereSet } from '../database.ts'
import type { Tables } from '../tables.ts'

/** Belongs to no transfer. */
export type ManualJournal = Omit<Journal, 'kind' | 'depositId' | 'transfer'> & {
  kind: 'manual' | 'opening' | 'reversal'
  /** That it names. */
  depositId: bigint | null
  transfer: null
}

const endsCredit: ReadonlySet<(Journal | ManualJournal)['kind']> = new Set([
  'reversal',
  'refund',
  'write_off',
])

/**
 * All or none: Postgres rejects the transaction if a posting key is already booked. Manual journals are adjustments,
 * and are also booked into a soft-closed month.
 */
export async function bookJournals(
  tx: Transaction<Tables>,
  journals: readonly (Journal | ManualJournal)[],
): Promise<void> {
  if (journals.length === 0) return
  await insertJournals(tx, journals)
  const ending = journals.filter(({ kind }) => endsCredit.has(kind))
  if (ending.length > 0) await withdrawCreditSafety(tx, ending)
}

/** Transfers take the times and period of their journal inside Postgres, so these never pass through the process. */
async function insertJournals(
  tx: Transaction<Tables>,
  journals: readonly (Journal | ManualJournal)[],
): Promise<void> {
  const numbered = journals.map((journal, place) => ({ ...journal, place }))
  const lines = journals.flatMap(({ key, transfers }) =>
    transfers.map(({ leg, ...transfer }, index) => ({ ...transfer, key, leg: leg ?? index + 1 })),
  )
  // Accounts in order, so that two bookings that open the same ones wait for each other instead of deadlocking.
  await sql`
    with line as materialized (
      select * from ${asTable('line', lines, lineColumns)}
    ), opened as (
      insert into ledger_account (id, asset)
      select distinct side.id, asset from line, lateral (values (debit), (credit)) as side (id)
      order by side.id, asset
      on conflict (id, asset) do nothing
    ), journal as (
      insert into ledger_journal (posting_key, kind, deposit_id, transfer, reverses, event_at, period)
      select new.key, new.kind, "depositId", new.transfer, original.id, "eventAt",
        ledger_period_for(
          greatest("eventAt", original.period::timestamp at time zone 'UTC'),
          new.transfer is null and new.kind in ('manual', 'opening', 'reversal')
        )
      from ${asTable('new', numbered, journalColumns)}
        left join ledger_journal original on original.posting_key = new.reverses
      order by new.place
      returning id, posting_key, event_at, recorded_at, period
    )
    insert into ledger_transfer
      (journal_id, leg, debit, credit, asset, amount, event_at, recorded_at, period)
    select journal.id, line.leg, line.debit, line.credit, line.asset, line.amount,
      journal.event_at, journal.recorded_at, journal.period
    from line join journal on journal.posting_key = line.key
    order by journal.id, line.leg`.execute(tx)
}

const journalColumns =
  'place int, key text, kind text, depositId bigint, transfer text, reverses text, eventAt timestamptz'

const lineColumns = 'key text, leg int, debit text, credit text, asset text, amount numeric'

/** `decision` is what they signed; absent if the owner of the database books without signatures. */
export type ByHand = { reason: string; by: string; approvedBy: string; decision?: bigint | null }

export type BookedJournal = {
  id: bigint
  key: string
  kind: LedgerJournalKind
  depositId: bigint | null
  reverses: bigint | null
  reversedBy: bigint | null
  eventAt: Date
  recordedAt: Date
  /** First day of the month in whose books the journal is. */
  period: string
  /** Null if it follows from evidence. */
  byHand: ByHand | null
  transfers: readonly LedgerTransfer[]
}

/** @returns the journal's id */
export async function bookByHand(
  tx: Transaction<Tables>,
  journal: Omit<ManualJournal, 'transfer'>,
  { reason, by, approvedBy, decision = null }: ByHand,
): Promise<bigint> {
  await bookJournals(tx, [{ ...journal, transfer: null }])
  const { rows } = await sql<{ id: bigint }>`
    insert into manual_journal (journal_id, decision_id, reason, made_by, approved_by)
    select id, ${decision}::bigint, ${reason}, ${by}, ${approvedBy} from ledger_journal where posting_key = ${journal.key}
    returning journal_id as id`.execute(tx)
  return rows[0]?.id ?? 0n
}

/** Ledger transfers as they are in the JSON of `transfersOf`. */
export type TransferTexts = {
  /** Null if the journal lost them. */
  transfers: (Omit<LedgerTransfer, 'amount' | 'leg'> & { amount: string; leg: number })[] | null
}

/** Of the journal `j` of a statement. */
export const transfersOf = sql`(
  select jsonb_agg(jsonb_build_object('debit', t.debit, 'credit', t.credit, 'asset', t.asset, 'amount', t.amount::text, 'leg', t.leg)
    order by t.leg) from ledger_transfer t where t.journal_id = j.id)`

export function readTransfers({ transfers }: TransferTexts): LedgerTransfer[] {
  return (transfers ?? []).map(({ leg, ...one }, place) => ({
    ...one,
    amount: BigInt(one.amount) as LedgerTransfer['amount'],
    ...(leg !== place + 1 && { leg }),
  }))
}

export async function readJournal(db: Kysely<Tables>, id: bigint): Promise<BookedJournal | null> {
  const { rows } = await sql<Omit<BookedJournal, 'transfers'> & TransferTexts>`
    select j.id, j.posting_key as key, j.kind, j.deposit_id as "depositId", j.reverses, r.id as "reversedBy",
      j.event_at as "eventAt", j.recorded_at as "recordedAt", j.period,
      case when m.journal_id is not null then
        jsonb_build_object('reason', m.reason, 'by', m.made_by, 'approvedBy', m.approved_by,
          'decision', m.decision_id) end as "byHand",
      ${transfersOf} as transfers
    from ledger_journal j
      left join ledger_journal r on r.reverses = j.id
      left join manual_journal m on m.journal_id = j.id
    where j.id = ${id}`.execute(db)
  const [row] = rows
  return row === undefined ? null : { ...row, transfers: readTransfers(row) }
}

export async function idOfKey(db: Kysely<Tables>, key: string): Promise<bigint | null> {
  const { rows } = await sql<{ id: bigint }>`
    select id from ledger_journal where posting_key = ${key}`.execute(db)
  return rows[0]?.id ?? null
}

/** When the books begin; null without opening balances. */
export async function readOpenedAt(db: Kysely<Tables>): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`select ledger_opened_at() as at`.execute(db)
  return rows[0]?.at ?? null
}

/** The month in whose books a manual journal is booked, and the month it belongs to. */
export async function adjustmentPeriod(
  db: Kysely<Tables>,
  at: Date,
): Promise<{ period: string; belongsTo: string }> {
  const { rows } = await sql<{ period: string; belongsTo: string }>`
    select ledger_period_for(${at}::timestamptz, true) as period,
      ledger_month(${at}::timestamptz) as "belongsTo"`.execute(db)
  return rows[0] ?? { period: '', belongsTo: '' }
}

/** Never before the month of the journal. */
export async function reversalPeriod(
  db: Kysely<Tables>,
  { eventAt, period }: Pick<BookedJournal, 'eventAt' | 'period'>,
): Promise<string> {
  const monthOfJournal = new Date(`${period}T00:00:00Z`)
  return (await adjustmentPeriod(db, eventAt > monthOfJournal ? eventAt : monthOfJournal)).period
}

export type LedgerJournalKind = DepositJournalKind | 'manual' | 'opening'

type JournalFilter = {
  /** In the books of a month like `2026-01`. */
  period: string | null
  kind: LedgerJournalKind | null
  by: string | null
  /** With a lower id. */
  before: bigint | null
}

/** Columns of `accounting.journal` and, if a person booked it, `accounting.manual_journals`. */
export type JournalLine = {
  id: bigint
  posting_key: string
  kind: LedgerJournalKind
  deposit_id: bigint | null
  reverses: bigint | null
  reversed_by: bigint | null
  event_at: Date
  recorded_at: Date
  period: string
  belongs_to: string
  made_by: string | null
  approved_by: string | null
  decision_id: bigint | null
  reason: string | null
  changed_at: Date | null
}

/**
 * Found by the times of the month, or as a late one. Journals of an old month are far from the newest, so that they must not
 * be sought in the order of ids: `j.id + 0` has no index.
 */
function inMonth(month: string): RawBuilder<unknown> {
  const first = sql`to_date(${month}, 'YYYY-MM')`
  const from = sql`(${first}::timestamp at time zone 'UTC')`
  return sql`j.period = ${first} and (j.period <> ledger_month(j.event_at)
      or (j.event_at >= ${from} and j.event_at < ((${first} + interval '1 month') at time zone 'UTC')))`
}

/** Newest first. */
export async function listJournals(
  db: Kysely<Tables>,
  { period, kind, by, before }: JournalFilter,
  limit: number,
): Promise<JournalLine[]> {
  const conditions = [
    sql`true`,
    ...whereSet(period, inMonth),
    ...whereSet(kind, (one) => sql`j.kind = ${one}`),
    ...whereSet(before, (id) => sql`j.id < ${id}`),
    ...whereSet(by, (name) => sql`lower(m.made_by) = lower(${name})`),
  ]
  const { rows } = await sql<JournalLine>`
    select j.id, j.posting_key, j.kind, j.deposit_id, j.reverses, r.id as reversed_by, j.event_at,
      j.recorded_at, to_char(j.period, 'YYYY-MM') as period, to_char(ledger_month(j.event_at), 'YYYY-MM') as belongs_to,
      m.made_by, m.approved_by, m.decision_id, m.reason, m.changed_at
    from ledger_journal j
      left join ledger_journal r on r.reverses = j.id
      left join accounting.manual_journals m on m.journal_id = j.id
    where ${sql.join(conditions, sql` and `)}
    order by ${period === null ? sql`j.id` : sql`j.id + 0`} desc limit ${limit}`.execute(db)
  return rows
}
