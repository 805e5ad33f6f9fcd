import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { Fault } from '../core/errors.ts'
import { newestMigration } from './migrate.ts'

/** Most migrations take less. */
const usualBounds = { maxMs: 60_000, retryEveryMs: 200 }

/**
 * Returns if the schema is as new as this version needs, once a migration that is running has ended.
 * @param waiting is called once if there is one.
 * @throws Fault `remote_failed` that says what the schema is at, and what to do.
 */
export async function awaitSchema<Tables>(
  db: Kysely<Tables>,
  {
    folder,
    waiting,
    bounds = usualBounds,
  }: { folder: string; waiting: () => void; bounds?: typeof usualBounds },
): Promise<void> {
  const needed = await newestMigration(folder)
  const deadline = Date.now() + bounds.maxMs
  for (let isWaiting = false; ; isWaiting = true) {
    const { schema, isMigrating } = await readProgress(db)
    if (schema === null || schema >= needed) return
    if (!isMigrating || Date.now() > deadline) throw behind({ schema, needed, isMigrating })
    if (!isWaiting) waiting()
    await sleep(bounds.retryEveryMs)
  }
}

/** The newest migration that was applied: empty before the first, null for a user who may not know. */
type Progress = { schema: string | null; isMigrating: boolean }

/** The number of the advisory lock that Kysely holds while it migrates; pg_locks shows its halves. */
const migrationLock = 3_853_314_791_062_309_107n

async function readProgress<Tables>(db: Kysely<Tables>): Promise<Progress> {
  const { rows } = await sql<{ isMade: boolean; mayRead: boolean; isMigrating: boolean }>`
    select to_regclass('public.kysely_migration') is not null as "isMade",
      coalesce(has_table_privilege(to_regclass('public.kysely_migration'), 'SELECT'), false) as "mayRead",
      exists (
        select from pg_locks
        where locktype = 'advisory' and granted and objsubid = 1
          and database = (select oid from pg_database where datname = current_database())
          and classid::bigint = ${migrationLock >> 32n}::bigint
          and objid::bigint = ${migrationLock & 0xffff_ffffn}::bigint
      ) as "isMigrating"`.execute(db)
  const { isMade = false, mayRead = false, isMigrating = false } = rows[0] ?? {}
  if (!mayRead) return { schema: isMade ? null : '', isMigrating }
  const { rows: newest } = await sql<{ schema: string }>`
    select coalesce(max(name), '') as schema from public.kysely_migration`.execute(db)
  return { schema: newest[0]?.schema ?? '', isMigrating }
}

function behind({
  schema,
  needed,
  isMigrating,
}: {
  schema: string
  needed: string
  isMigrating: boolean
}): Fault {
  const found = schema === '' ? 'it is missing' : `it is at ${schema}`
  const fix = isMigrating
    ? 'a migration is still running: try again later'
    : 'run "bin/depositd migrate", or start the daemon, which migrates'
  const problem = `${found}, and this version needs ${needed}; ${fix}`
  return new Fault('remote_failed', { what: 'the schema of the database', problem })
}
