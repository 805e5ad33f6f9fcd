import { type Kysely, sql } from 'kysely'
import { Fault } from '../../core/errors.ts'
import type { Tables } from '../tables.ts'
import { timeText } from './sealed-rows.ts'

/**
 * Of this month and the next ones, ahead of time.
 * @returns how many were created
 */
export async function makePartitions(db: Kysely<Tables>): Promise<number> {
  try {
    const { rows } = await sql<{ made: number }>`select make_ledger_partitions() as made`.execute(db)
    return rows[0]?.made ?? 0
  } catch (error) {
    // The next run creates them in time.
    if (isBusy(error)) return 0
    throw error
  }
}

const lockNotAvailable = '55P03'

/** Journals up to it never change; later ones are recorded after it. `at` is its time to the microsecond. */
export type Cut = { lastJournal: bigint; at: string }

/** Waits up to two seconds for running bookings; blocks new ones until the transaction ends. */
export async function cutLedger(db: Kysely<Tables>): Promise<Cut> {
  const { rows } = await sql<Cut>`
    select last_journal as "lastJournal", ${timeText(sql.ref('cut_at'))} as at
    from ledger_cut()`.execute(db)
  return rows[0] ?? { lastJournal: 0n, at: '' }
}

const attemptsMax = 5

/**
 * Retries if a writer takes longer than the cut waits: a waiting cut blocks all other writers.
 * @throws Fault `remote_failed` if writers do not finish
 */
export async function patiently<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (attempt < attemptsMax) continue
      const problem = `other processes were writing to the books in each of ${attemptsMax} attempts; try again`
      throw new Fault('remote_failed', { what, problem }, { cause: error })
    }
  }
}

export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && error.code === lockNotAvailable) || isBusy(error.cause)
}

export async function isSnapshotDue(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ isDue: boolean }>`
    select coalesce(
      (select max(recorded) + 1 from ledger_snapshot_day) < ((now() - interval '10 minutes') at time zone 'UTC')::date,
      exists (select from ledger_journal)) as "isDue"`.execute(db)
  return rows[0]?.isDue ?? false
}

/**
 * Sums the next recording day that was over at the newest cut.
 * @returns null if none is left
 */
export async function makeSnapshot(db: Kysely<Tables>): Promise<string | null> {
  const { rows } = await sql<{ day: string | null }>`select make_ledger_snapshot() as day`.execute(db)
  return rows[0]?.day ?? null
}

export async function snapshotDays(db: Kysely<Tables>, after: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ recorded: string }>`
    select recorded from ledger_snapshot_day where recorded > ${after}
    order by recorded limit ${limit}`.execute(db)
  return rows.map(({ recorded }) => recorded)
}

/** A stored sum that differs from its transfers or, for a month, from its days; null on the side that lacks it. */
export type SnapshotFault = {
  span: 'day' | 'month'
  event: string
  account: string
  asset: string
  /** Debits and credits, in base units. */
  kept: string[] | null
  found: string[] | null
}

export async function snapshotFaults(
  db: Kysely<Tables>,
  day: string,
  limit: number,
): Promise<SnapshotFault[]> {
  const { rows } = await sql<SnapshotFault>`
    select span, event, account, asset, kept::text[] as kept, found::text[] as found
    from ledger_snapshot_faults(${day}) order by span, event, asset, account limit ${limit}`.execute(db)
  return rows
}

/** Days that were not summed, or sums of a day or month that is not marked as summed. */
export type SnapshotGap = {
  what: 'before_first' | 'between' | 'sums_of_day' | 'sums_of_month'
  first: string
  last: string
}

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
    select what, first::text as first, last::text as last from gap
    order by first, what limit ${limit}`.execute(db)
  return rows
}
