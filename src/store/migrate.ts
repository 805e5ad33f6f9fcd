import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration'
import { Fault, messageOf } from '../core/errors.ts'
import { reach } from '../failpoint.ts'

/**
 * Brings a database to the newest schema and returns the names of the migrations it applied.
 * Kysely takes a lock, so that any number of processes may call this at once.
 * @throws Fault `remote_failed` with the failing migration's own message.
 */
export async function migrate<Tables>(db: Kysely<Tables>, folder: string): Promise<readonly string[]> {
  const { error, results = [] } = await new Migrator({ db, provider: sqlFiles(folder) }).migrateToLatest()
  if (error !== undefined) {
    const failed = results.find((result) => result.status === 'Error')?.migrationName ?? 'migrations'
    throw new Fault(
      'remote_failed',
      { what: `migrating (${failed})`, problem: messageOf(error) },
      { cause: error },
    )
  }
  return results.map((result) => result.migrationName)
}

/** The last of the migrations in a folder: what a database is at when all were applied. */
export async function newestMigration(folder: string): Promise<string> {
  const names = Object.keys(await sqlFiles(folder).getMigrations())
  return names.toSorted().at(-1) ?? ''
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
