import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { type Migration, type MigrationProvider, type MigrationResultSet, Migrator } from 'kysely/migration'
import { Fault, messageOf } from '../core/errors.ts'
import { reach } from '../failpoint.ts'
import { attemptsMax, gaveWay } from './database.ts'
import { isDenied } from './denied.ts'

/**
 * Brings a database to the newest schema and returns the names of the migrations it applied.
 * Kysely takes a lock, so that any number of processes may call this at once. All is one transaction; where Postgres ends
 * it because programs at work hold what it waits for, and wait for what it holds, it begins again.
 * @throws Fault `remote_failed` with the failing migration's own message.
 */
export async function migrate<Tables>(db: Kysely<Tables>, folder: string): Promise<readonly string[]> {
  if (await isNewer(db, folder)) return []
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

/** Ends the name of a migration that takes away what versions before it use; all others only add. */
export const contracting = '_contract'

/**
 * A version that is replaced may still start, and one that is taken back, too: what a newer one added is in nobody's way.
 * @throws Fault `remote_failed` where the newer one took away what this one uses
 */
export async function isNewer<Tables>(db: Kysely<Tables>, folder: string): Promise<boolean> {
  const ours = await migrationsIn(folder)
  const { rows: there } =
    await sql`select from pg_class where oid = to_regclass('public.kysely_migration')`.execute(db)
  if (there.length === 0) return false
  const { rows } = await sql<{ name: string }>`
    select name from public.kysely_migration order by name`.execute(db)
  const applied = new Set(rows.map(({ name }) => name))
  // A database of something else has migrations, too, and not these.
  if (!ours.every((name) => applied.has(name))) return false
  const newer = [...applied].filter((name) => name > (ours.at(-1) ?? ''))
  const contract = newer.find((name) => name.endsWith(contracting))
  if (contract !== undefined) {
    const problem = `${contract} of a newer version took away what this one uses: start that version or a newer one`
    throw new Fault('remote_failed', { what: 'the schema of the database', problem })
  }
  return newer.length > 0
}

/** The last of the migrations in a folder: what a database is at when all were applied. */
export async function newestMigration(folder: string): Promise<string> {
  return (await migrationsIn(folder)).at(-1) ?? ''
}

async function migrationsIn(folder: string): Promise<string[]> {
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
