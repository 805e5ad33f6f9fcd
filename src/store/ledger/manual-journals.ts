import { type Kysely, sql, type Transaction } from 'kysely'
import type { LedgerTransfer } from '../../core/posting.ts'
import { bookJournals, type ManualJournal } from '../books/ledger.ts'
import type { Tables } from '../tables.ts'

/** Reason for a manual booking, its maker, and its approver. */
export type ByHand = { reason: string; by: string; approvedBy: string }

/** A journal as stored in the books. */
export type BookedJournal = {
  id: bigint
  key: string
  kind: Tables['ledger_journal']['kind']
  depositId: bigint | null
  reverses: bigint | null
  reversedBy: bigint | null
  eventAt: Date
  recordedAt: Date
  /** First day of the month in whose books the journal is. */
  period: string
  /** Null if the journal follows from evidence. */
  byHand: ByHand | null
  transfers: readonly LedgerTransfer[]
}

/**
 * Books a manual journal with its reason, maker and approver.
 * @returns its id
 */
export async function bookByHand(
  tx: Transaction<Tables>,
  journal: Omit<ManualJournal, 'depositId' | 'transfer'>,
  { reason, by, approvedBy }: ByHand,
): Promise<bigint> {
  await bookJournals(tx, [{ ...journal, depositId: null, transfer: null }])
  const { rows } = await sql<{ id: bigint }>`
    insert into manual_journal (journal_id, reason, made_by, approved_by)
    select id, ${reason}, ${by}, ${approvedBy} from ledger_journal where posting_key = ${journal.key}
    returning journal_id as id`.execute(tx)
  return rows[0]?.id ?? 0n
}

type BookedJournalRow = Omit<BookedJournal, 'transfers'> & {
  transfers: (Omit<LedgerTransfer, 'amount'> & { amount: string })[]
}

export async function readJournal(db: Kysely<Tables>, id: bigint): Promise<BookedJournal | null> {
  const { rows } = await sql<BookedJournalRow>`
    select j.id, j.posting_key as key, j.kind, j.deposit_id as "depositId", j.reverses, r.id as "reversedBy",
      j.event_at as "eventAt", j.recorded_at as "recordedAt", j.period,
      case when m.journal_id is not null then
        jsonb_build_object('reason', m.reason, 'by', m.made_by, 'approvedBy', m.approved_by) end as "byHand",
      (select jsonb_agg(jsonb_build_object('debit', t.debit, 'credit', t.credit, 'asset', t.asset,
        'amount', t.amount::text) order by t.leg) from ledger_transfer t where t.journal_id = j.id) as transfers
    from ledger_journal j
      left join ledger_journal r on r.reverses = j.id
      left join manual_journal m on m.journal_id = j.id
    where j.id = ${id}`.execute(db)
  const [row] = rows
  if (row === undefined) return null
  const transfers = row.transfers.map((one) => ({
    ...one,
    amount: BigInt(one.amount) as LedgerTransfer['amount'],
  }))
  return { ...row, transfers }
}

export async function idOfKey(db: Kysely<Tables>, key: string): Promise<bigint | null> {
  const row = await db
    .selectFrom('ledger_journal')
    .select('id')
    .where('posting_key', '=', key)
    .executeTakeFirst()
  return row?.id ?? null
}

/** Month in whose books a manual journal of this time is booked, and the month it belongs to. */
export async function adjustmentPeriod(
  db: Kysely<Tables>,
  at: Date,
): Promise<{ period: string; belongsTo: string }> {
  const { rows } = await sql<{ period: string; belongsTo: string }>`
    select ledger_period_for(${at}::timestamptz, true) as period, ledger_month(${at}::timestamptz) as "belongsTo"`.execute(
    db,
  )
  return rows[0] ?? { period: '', belongsTo: '' }
}

/** Month in whose books a reversal of the journal is booked: never before the month of the journal. */
export async function reversalPeriod(
  db: Kysely<Tables>,
  { eventAt, period }: Pick<BookedJournal, 'eventAt' | 'period'>,
): Promise<string> {
  const monthOfJournal = new Date(`${period}T00:00:00Z`)
  return (await adjustmentPeriod(db, eventAt > monthOfJournal ? eventAt : monthOfJournal)).period
}

/** The given accounts that have bookings. */
export async function openedAccounts(db: Kysely<Tables>, accounts: readonly string[]): Promise<Set<string>> {
  if (accounts.length === 0) return new Set()
  const rows = await db
    .selectFrom('ledger_account')
    .select('id')
    .distinct()
    .where('id', 'in', [...accounts])
    .execute()
  return new Set(rows.map(({ id }) => id))
}
