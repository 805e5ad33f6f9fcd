import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables.ts'

/** Whether a day of recording is over and not added up yet. */
export async function isSnapshotDue(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ isDue: boolean }>`
    select coalesce(
      (select max(recorded) + 1 from ledger_snapshot_day) < ((now() - interval '10 minutes') at time zone 'UTC')::date,
      exists (select from ledger_journal)) as "isDue"`.execute(db)
  return rows[0]?.isDue ?? false
}

/**
 * Adds up the next day of recording that was over at the newest cut.
 * @returns the day, or null where none is left
 */
export async function makeSnapshot(db: Kysely<Tables>): Promise<string | null> {
  const { rows } = await sql<{ day: string | null }>`select make_ledger_snapshot() as day`.execute(db)
  return rows[0]?.day ?? null
}

/** The next days of recording that were added up, behind one. */
export async function snapshotDays(db: Kysely<Tables>, after: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ recorded: string }>`
    select recorded from ledger_snapshot_day where recorded > ${after} order by recorded limit ${limit}`.execute(
    db,
  )
  return rows.map(({ recorded }) => recorded)
}

/** A sum that is not what the transfers, or of a month its days, add up to; null where there is none. */
export type SnapshotFault = {
  span: 'day' | 'month'
  event: string
  account: string
  asset: string
  /** Debits and credits, in smallest units. */
  kept: string[] | null
  found: string[] | null
}

/** Makes the snapshots of a day, and of the month that it ends, again, and tells the first of what differs. */
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
