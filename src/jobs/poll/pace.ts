import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { ServiceName } from '../../core/evidence.ts'
import { isMorePending } from '../../store/inbox.ts'
import type { Tables } from '../../store/tables.ts'
import { pollStream } from './position.ts'

export type Cadence = {
  youngMs: number
  quietMs: number
}

const pauseMs = 1000

/** Such a reading is older than a correction of the database's clock. */
const setBack = sql`interval '2 minutes'`

/**
 * Always true while a deposit is young or a full reading is in progress, otherwise after the quiet interval. Uses the
 * database clock, so that all schedulers agree.
 */
export async function isPollDue(
  db: Kysely<Tables>,
  service: ServiceName,
  { youngMs, quietMs }: Cadence,
): Promise<boolean> {
  const { rows } = await sql<{ is_due: boolean }>`
    select not exists (
      select from stream where name = ${pollStream(service)} and succeeded_at < now() + ${setBack} and succeeded_at > now() - case
        when jsonb_typeof(cursor -> 'sweep') = 'object' or exists (
          select from deposit where service = ${service} and state in ('observed', 'confirmed', 'settling', 'settled', 'held')
            and merged_into is null and created_at > now() - ${youngMs}::float8 * interval '1 millisecond'
        ) then ${pauseMs}::float8 else ${quietMs}::float8 end * interval '1 millisecond'
    ) as is_due`.execute(db)
  return rows[0]?.is_due ?? true
}

/** A new webhook is applied after them. */
const pendingMax = 100
const lookEveryMs = 20
/** Reading continues even if rows are not applied. */
const patienceMs = 500

type KeepPaceDeps = { db: Kysely<Tables>; wake: (job: 'apply') => Promise<void> }

export async function keepPace({ db, wake }: KeepPaceDeps, waitMaxMs = patienceMs): Promise<void> {
  await wake('apply')
  const until = performance.now() + waitMaxMs
  while (performance.now() < until && (await isMorePending(db, pendingMax))) await sleep(lookEveryMs)
}
