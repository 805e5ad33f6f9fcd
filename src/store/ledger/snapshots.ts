import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables.ts'

/** Whether a recording day is over and not yet summed. */
export async function isSnapshotDue(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ isDue: boolean }>`
    select coalesce(
      (select max(recorded) + 1 from ledger_snapshot_day) < ((now() - interval '10 minutes') at time zone 'UTC')::date,
      exists (select from ledger_journal)) as "isDue"`.execute(db)
  return rows[0]?.isDue ?? false
}

/**
 * Sums the next recording day that was over at the newest cut.
 * @returns the day, or null if none is left
 */
export async function makeSnapshot(db: Kysely<Tables>): Promise<string | null> {
  const { rows } = await sql<{ day: string | null }>`select make_ledger_snapshot() as day`.execute(db)
  return rows[0]?.day ?? null
}

/** The next summed recording days after a day. */
export async function snapshotDays(db: Kysely<Tables>, after: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ recorded: string }>`
    select recorded from ledger_snapshot_day where recorded > ${after} order by recorded limit ${limit}`.execute(
    db,
  )
  return rows.map(({ recorded }) => recorded)
}

/** A stored sum that differs from its transfers or, for a month, from its days; null on the side that lacks it. */
export type SnapshotFault = {
  span: 'day' | 'month'
  event: string
  account: string
  asset: string
  /** Debits and credits, in the smallest units. */
  kept: string[] | null
  found: string[] | null
}

/** Recomputes the snapshots of a day, and of the month that it ends, and returns the first differences. */
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
