import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../store/tables.ts'
import { pollStream } from './poll-position.ts'

export type Cadence = {
  /** For how long after its first evidence a deposit that is open counts as young. */
  youngMs: number
  /** How much time passes between polls while none is young. */
  quietMs: number
}

/** However often it is asked for: the service is not to be asked without a pause. */
const pauseMs = 1000

/** What was read so long after now was read before the database's clock was set back. */
const setBack = sql`interval '2 minutes'`

/**
 * Whether the records are to be read now: while a deposit is young or a full reading is under way always, else once the
 * quiet time has passed. By the database's clock, so that all schedulers see the same.
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
