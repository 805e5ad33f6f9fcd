import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { type Migration, type MigrationProvider, type MigrationResultSet, Migrator } from 'kysely/migration'
import { Fault, messageOf } from '../core/errors.ts'
import { reach } from '../failpoint.ts'
import { compareSchema, type SchemaState } from '../health.ts'
import { attemptsMax, gaveWay } from './database.ts'
import { isDenied } from './database-errors.ts'

export const migrationsFolder = join(import.meta.dirname, '../../db/migrations')

/**
 * Kysely takes a lock, so any number of processes may call this at once. All migrations run in one transaction, which
 * starts again after a deadlock with running programs.
 * @returns the names of the migrations it applied
 * @throws Fault `remote_failed` with the message of the failing migration, or if a newer version removed something that
 * this one uses; `schema_unknown` if the database was migrated by files of another version
 */
export async function migrate<Tables>(
  db: Kysely<Tables>,
  folder: string,
  name = 'the database',
): Promise<readonly string[]> {
  const applied = await readMigrations(db)
  const state = compareSchema(applied ?? [], await migrationsIn(folder))
  if (refuseUnusable(state, name).kind === 'newer') return []
  const { error, results = [] } = await applyAll(new Migrator({ db, provider: sqlFiles(folder) }))
  if (error !== undefined) {
    const failed = results.find((result) => result.status === 'Error')?.migrationName ?? 'migrations'
    const problem = isDenied(error) ? `${error.message}; ${ownersRights}` : messageOf(error)
    throw new Fault('remote_failed', { what: `migrating (${failed})`, problem }, { cause: error })
  }
  return results.map((result) => result.migrationName)
}

async function applyAll(migrator: Migrator): Promise<MigrationResultSet> {
  for (let attempt = 1; ; attempt++) {
    const applied = await migrator.migrateToLatest()
    if (applied.error === undefined || attempt === attemptsMax || !gaveWay(applied.error)) return applied
  }
}

const ownersRights =
  'the user of DATABASE_URL must own the database and may create roles; run as a superuser: alter role … createrole'

/**
 * Accepts a newer schema that only adds: a version that is being replaced may still start.
 * @throws Fault `remote_failed` if a newer version removed something that this one uses; `schema_unknown`
 */
export function refuseUnusable(state: SchemaState, database = 'the database'): SchemaState {
  if (state.kind === 'unknown')
    throw new Fault('schema_unknown', {
      problem: `${database} was created by another version or program: this version has no migration ${state.at}, and it cannot upgrade from versions before 0.1.0`,
      fix: 'to start again, delete the folder .depositd, or use a new, empty database',
    })
  if (state.kind === 'newer' && state.contract !== null) {
    const problem = `migration ${state.contract} of a newer version removed tables or columns that this version uses; start that version or a newer one`
    throw new Fault('remote_failed', { what: 'the schema of the database', problem })
  }
  return state
}

/** Null if the user may not read them. */
async function readMigrations<Tables>(db: Kysely<Tables>): Promise<readonly string[] | null> {
  const { rows } = await sql<{ isMade: boolean; mayRead: boolean }>`
    select oid is not null as "isMade", coalesce(has_table_privilege(oid, 'SELECT'), false) as "mayRead"
    from (select to_regclass('public.kysely_migration') as oid) as found`.execute(db)
  const { isMade = false, mayRead = false } = rows[0] ?? {}
  if (!isMade) return []
  if (!mayRead) return null
  const { rows: applied } = await sql<{ name: string }>`select name from public.kysely_migration`.execute(db)
  return applied.map(({ name }) => name).toSorted()
}

export async function migrationsIn(folder: string): Promise<readonly string[]> {
  return Object.keys(await sqlFiles(folder).getMigrations()).toSorted()
}

/** `NNNN_name.sql`, in the order of their numbers. */
function sqlFiles(folder: string): MigrationProvider {
  return {
    async getMigrations() {
      const files = (await readdir(folder)).filter((file) => /^\d{4}_[a-z_]+\.sql$/.test(file))
      const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
      return Object.fromEntries(
        files.map((file, place) => [basename(file, '.sql'), sqlMigration(texts[place] ?? '')]),
      )
    },
  }
}

function sqlMigration(text: string): Migration {
  return {
    up: async (db) => {
      await sql.raw(text).execute(db)
      reach('migrate.in_transaction')
    },
  }
}

/** Longer than most migrations take. */
const usualBounds = { maxMs: 60_000, retryEveryMs: 200 }

/**
 * Waits for a migration that is running.
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
    // Before the schema, so that a migration that ends in between is seen as applied.
    const isMigrating = await readIsMigrating(db)
    const lacking = await readLack(db, own)
    if (lacking === null) return
    if (!isMigrating || Date.now() > deadline) throw behind({ ...lacking, isMigrating })
    if (!isWaiting) waiting()
    await sleep(bounds.retryEveryMs)
  }
}

/** `at` is the newest applied migration, null if the schema is missing; `needed` is ours. */
type Lack = { at: string | null; needed: string }

/** Null if the schema is new enough, or if the user may not read the migrations. */
async function readLack<Tables>(db: Kysely<Tables>, own: readonly string[]): Promise<Lack | null> {
  const applied = await readMigrations(db)
  if (applied === null) return null
  const { kind } = refuseUnusable(compareSchema(applied, own))
  if (kind === 'current' || kind === 'newer') return null
  return { at: applied.at(-1) ?? null, needed: own.at(-1) ?? '' }
}

/** The advisory lock that Kysely holds while it migrates; pg_locks shows its two halves. */
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
    ? 'a migration is still running; try again later'
    : 'run "bin/depositd migrate", or start the daemon, which migrates'
  const problem = `${found}, but this version needs ${needed}; ${fix}`
  return new Fault('remote_failed', { what: 'the schema of the database', problem })
}

export type MigrationAccess = {
  user: string
  mayMigrate: boolean
  isStandby: boolean
  migrations: readonly string[] | null
}

/**
 * The owner of the migrations table owns the schema. Before that table exists, any user who may create schemas may
 * migrate.
 */
export async function readMigrationAccess<Tables>(db: Kysely<Tables>): Promise<MigrationAccess> {
  const { rows } = await sql<{ user: string; mayMigrate: boolean; isStandby: boolean }>`
    select current_user::text as user, pg_is_in_recovery() as "isStandby",
      coalesce(
        (select pg_has_role(relowner, 'USAGE') from pg_class where oid = to_regclass('public.kysely_migration')),
        has_database_privilege(current_database(), 'CREATE')
      ) as "mayMigrate"`.execute(db)
  const standing = rows[0] ?? { user: '', mayMigrate: false, isStandby: false }
  return { ...standing, migrations: await readMigrations(db) }
}
