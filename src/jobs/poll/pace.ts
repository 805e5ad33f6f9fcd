import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { isMorePending } from '../../store/inbox.ts'
import type { Tables } from '../../store/tables.ts'
import { pollStream } from './position.ts'

export type Cadence = {
  /** How long after its first evidence an open deposit counts as young. */
  youngMs: number
  /** Interval between polls while no deposit is young. */
  quietMs: number
}

/** Minimum interval between polls, however often they are requested. */
const pauseMs = 1000

/** A reading this far in the future was made before the database's clock was set back. */
const setBack = sql`interval '2 minutes'`

/**
 * Whether a poll is due: always while a deposit is young or a full reading is in progress, otherwise after the quiet
 * interval. Uses the database clock, so that all schedulers agree.
 */
export async function isPollDue(db: Kysely<Tables>, { youngMs, quietMs }: Cadence): Promise<boolean> {
  const { rows } = await sql<{ is_due: boolean }>`
    select not exists (
      select from stream where name = ${pollStream} and succeeded_at < now() + ${setBack} and succeeded_at > now() - case
        when jsonb_typeof(cursor -> 'sweep') = 'object' or exists (
          select from deposit where state in ('observed', 'confirmed', 'settling', 'settled', 'held')
            and merged_into is null and created_at > now() - ${youngMs}::float8 * interval '1 millisecond'
        ) then ${pauseMs}::float8 else ${quietMs}::float8 end * interval '1 millisecond'
    ) as is_due`.execute(db)
  return rows[0]?.is_due ?? true
}

/** Pending rows allowed before the next page is read. A new webhook is applied after them. */
const pendingMax = 100
const lookEveryMs = 20
/** If rows are not being applied, reading continues after this time. */
const patienceMs = 500

type KeepPaceDeps = { db: Kysely<Tables>; wake: (job: 'apply') => Promise<void> }

/** Applies what was read until few rows are pending, so that a webhook does not wait behind a long list. */
export async function keepPace({ db, wake }: KeepPaceDeps, waitMaxMs = patienceMs): Promise<void> {
  await wake('apply')
  const until = performance.now() + waitMaxMs
  while (performance.now() < until && (await isMorePending(db, pendingMax))) await sleep(lookEveryMs)
}
