import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../tables.ts'

/** Filters for the list of journals; null for no filter. */
export type JournalFilter = {
  /** In the books of this month: `2026-01`. */
  period: string | null
  kind: LedgerJournalKind | null
  /** Manually booked by this person. */
  by: string | null
  /** With a lower id. */
  before: bigint | null
}

export type LedgerJournalKind = Tables['ledger_journal']['kind']

/** A journal with the columns of `accounting.journal` and, if a person booked it, of `accounting.manual_journals`. */
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
  reason: string | null
}

/** The newest first. */
export async function listJournals(
  db: Kysely<Tables>,
  filter: JournalFilter,
  limit: number,
): Promise<JournalLine[]> {
  const { rows } = await sql<JournalLine>`
    select j.id, j.posting_key, j.kind, j.deposit_id, j.reverses, r.id as reversed_by, j.event_at,
      j.recorded_at, to_char(j.period, 'YYYY-MM') as period, to_char(ledger_month(j.event_at), 'YYYY-MM') as belongs_to,
      m.made_by, m.approved_by, m.reason
    from ledger_journal j
      left join ledger_journal r on r.reverses = j.id
      left join manual_journal m on m.journal_id = j.id
    where ${sql.join([sql`true`, ...conditionsOf(filter)], sql` and `)}
    order by j.id desc limit ${limit}`.execute(db)
  return rows
}

function conditionsOf({ period, kind, by, before }: JournalFilter): RawBuilder<unknown>[] {
  return [
    ...(period === null ? [] : [sql`j.period = to_date(${period}, 'YYYY-MM')`]),
    ...(kind === null ? [] : [sql`j.kind = ${kind}`]),
    ...(before === null ? [] : [sql`j.id < ${before}`]),
    ...(by === null ? [] : [sql`lower(m.made_by) = lower(${by})`]),
  ]
}
