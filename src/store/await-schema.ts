import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { Fault } from '../core/errors.ts'
import { compareSchema } from '../core/schema.ts'
import { migrationsIn, readMigrations, refuseUnusable } from './migrate.ts'

/** Longer than most migrations take. */
const usualBounds = { maxMs: 60_000, retryEveryMs: 200 }

/**
 * Resolves when the schema is new enough for this version. Waits for a migration that is running.
 * @param waiting is called once if a migration is running
 * @throws Fault `remote_failed` with the state of the schema and the fix; `schema_unknown`
 */
export async function awaitSchema<Tables>(
  db: Kysely<Tables>,
  {
    folder,
    waiting,
    bounds = usualBounds,
  }: { folder: string; waiting: () => void; bounds?: typeof usualBounds },
): Promise<void> {
  const own = await migrationsIn(folder)
  const deadline = Date.now() + bounds.maxMs
  for (let isWaiting = false; ; isWaiting = true) {
    // Read before the schema, so that a migration that ends in between is seen as applied.
    const isMigrating = await readIsMigrating(db)
    const lacking = await readLack(db, own)
    if (lacking === null) return
    if (!isMigrating || Date.now() > deadline) throw behind({ ...lacking, isMigrating })
    if (!isWaiting) waiting()
    await sleep(bounds.retryEveryMs)
  }
}

/** `at` is the newest applied migration, null if the schema is missing; `needed` is the newest of this version. */
type Lack = { at: string | null; needed: string }

/** Null if the schema is new enough, or if the user may not read the migrations. */
async function readLack<Tables>(db: Kysely<Tables>, own: readonly string[]): Promise<Lack | null> {
  const applied = await readMigrations(db)
  if (applied === null) return null
  const { kind } = refuseUnusable(compareSchema(applied, own))
  if (kind === 'current' || kind === 'newer') return null
  return { at: applied.at(-1) ?? null, needed: own.at(-1) ?? '' }
}

/** Number of the advisory lock that Kysely holds while it migrates; pg_locks shows its two halves. */
const migrationLock = 3_853_314_791_062_309_107n

async function readIsMigrating<Tables>(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ isMigrating: boolean }>`
    select exists (
      select from pg_locks
      where locktype = 'advisory' and granted and objsubid = 1
        and database = (select oid from pg_database where datname = current_database())
        and classid::bigint = ${migrationLock >> 32n}::bigint
        and objid::bigint = ${migrationLock & 0xffff_ffffn}::bigint
    ) as "isMigrating"`.execute(db)
  return rows[0]?.isMigrating ?? false
}

function behind({ at, needed, isMigrating }: Lack & { isMigrating: boolean }): Fault {
  const found = at === null ? 'it is missing' : `it is at ${at}`
  const fix = isMigrating
    ? 'a migration is still running: try again later'
    : 'run "bin/depositd migrate", or start the daemon, which migrates'
  const problem = `${found}, and this version needs ${needed}; ${fix}`
  return new Fault('remote_failed', { what: 'the schema of the database', problem })
}
