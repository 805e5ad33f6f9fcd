import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { type Migration, type MigrationProvider, type MigrationResultSet, Migrator } from 'kysely/migration'
import { Fault, messageOf } from '../core/errors.ts'
import { compareSchema, type SchemaState } from '../core/schema.ts'
import { reach } from '../failpoint.ts'
import { attemptsMax, gaveWay } from './database.ts'
import { isDenied } from './denied.ts'

export const migrationsFolder = join(import.meta.dirname, '../../db/migrations')

/**
 * Migrates a database to the newest schema.
 * Kysely takes a lock, so any number of processes may call this at once. All migrations run in one transaction. If
 * Postgres aborts it because of a deadlock with running programs, it starts again.
 * @param name of the database, in messages
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
  'the user of DATABASE_URL has to own the database and may create roles; as a superuser: alter role … createrole'

/**
 * Accepts a newer schema that only adds: a version that is being replaced may still start.
 * @throws Fault `remote_failed` if a newer version removed something that this one uses; `schema_unknown`
 */
export function refuseUnusable(state: SchemaState, database = 'the database'): SchemaState {
  if (state.kind === 'unknown')
    throw new Fault('schema_unknown', {
      problem: `${database} was made by another version or program: this version has no migration ${state.at}, and nothing was released before 0.1.0 that it could upgrade from`,
      fix: 'to start afresh, delete the folder .depositd, or name a new, empty database',
    })
  if (state.kind === 'newer' && state.contract !== null) {
    const problem = `${state.contract} of a newer version took away what this one uses: start that version or a newer one`
    throw new Fault('remote_failed', { what: 'the schema of the database', problem })
  }
  return state
}

/** Names of the applied migrations; null if the user may not read them. */
export async function readMigrations<Tables>(db: Kysely<Tables>): Promise<readonly string[] | null> {
  const { rows } = await sql<{ isMade: boolean; mayRead: boolean }>`
    select oid is not null as "isMade", coalesce(has_table_privilege(oid, 'SELECT'), false) as "mayRead"
    from (select to_regclass('public.kysely_migration') as oid) as found`.execute(db)
  const { isMade = false, mayRead = false } = rows[0] ?? {}
  if (!isMade) return []
  if (!mayRead) return null
  const { rows: applied } = await sql<{ name: string }>`select name from public.kysely_migration`.execute(db)
  return applied.map(({ name }) => name).toSorted()
}

/** Names of the migrations in a folder, in the order in which they are applied. */
export async function migrationsIn(folder: string): Promise<readonly string[]> {
  return Object.keys(await sqlFiles(folder).getMigrations()).toSorted()
}

/** Serves `NNNN_name.sql` files, in the order of their numbers. */
function sqlFiles(folder: string): MigrationProvider {
  return {
    async getMigrations() {
      const files = (await readdir(folder)).filter((file) => /^\d{4}_[a-z_]+\.sql$/.test(file))
      const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
      return Object.fromEntries(
        files.map((file, place) => [basename(file, '.sql'), apply(texts[place] ?? '')]),
      )
    },
  }
}

function apply(text: string): Migration {
  return {
    up: async (db) => {
      await sql.raw(text).execute(db)
      reach('migrate.in_transaction')
    },
  }
}
