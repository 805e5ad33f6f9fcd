import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables.ts'

/** A month of the books, as in `accounting.periods`. */
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

/** The newest first, before a month like `2026-01`. */
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
  reason: string | null
  forced: boolean
  severe_open: number
  last_journal: bigint | null
  sha256: string | null
}

/** Changes of months, the newest first, with ids below `before`. */
export async function listPeriodHistory(
  db: Kysely<Tables>,
  { limit, before = null }: { limit: number; before?: bigint | null },
): Promise<PeriodHistoryLine[]> {
  const { rows } = await sql<PeriodHistoryLine>`
    select id, to_char(period, 'YYYY-MM') as period, action, at, actor, approved_by, reason, forced, severe_open,
      last_journal, sha256
    from accounting.period_history where ${before}::bigint is null or id < ${before}::bigint order by id desc limit ${limit}`.execute(
    db,
  )
  return rows
}
