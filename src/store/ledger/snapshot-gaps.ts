import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables.ts'

/**
 * Recording days that should have been summed and were not, or a day or month that has sums but is not marked as
 * summed.
 */
export type SnapshotGap = {
  what: 'before_first' | 'between' | 'sums_of_day' | 'sums_of_month'
  first: string
  last: string
}

/** Errors in the set of summed days, other than in their sums. */
export async function snapshotGaps(db: Kysely<Tables>, limit: number): Promise<SnapshotGap[]> {
  const { rows } = await sql<SnapshotGap>`
    with ends as (
      select recorded, lead(recorded) over (order by recorded) as next,
        recorded = min(recorded) over () as is_first
      from ledger_snapshot_day
    ), kept as (
      select distinct span, recorded from ledger_snapshot
    ), gap as (
      select 'before_first' as what, begun.day as first, recorded - 1 as last
      from ends cross join (select (min(recorded_at) at time zone 'UTC')::date as day from ledger_journal) as begun
      where is_first and begun.day < recorded
      union all
      select 'between', recorded + 1, next - 1 from ends where next > recorded + 1
      union all
      select 'sums_of_' || span, recorded, recorded from kept
      where not exists (
        select from ledger_snapshot_day day
        where day.recorded = case kept.span when 'day' then kept.recorded
          else (kept.recorded + interval '1 month')::date - 1 end
      )
    )
    select what, first::text as first, last::text as last from gap order by first, what limit ${limit}`.execute(
    db,
  )
  return rows
}
