import { join } from 'node:path'
import { sql } from 'kysely'
import { Fault, isFault, messageOf } from '../core/errors.ts'
import { openDatabase, pingDatabase } from '../store/database.ts'
import { migrate } from '../store/migrate.ts'
import type { ServiceDatabase, ServiceTables } from './tables.ts'

type ServiceDatabaseOptions = { url: string; poolMax: number; applicationName: string }

const name = "the deposit service's database"
const migrations = join(import.meta.dirname, '../../db/service/migrations')

/**
 * @throws Fault `remote_failed` if the database is unreachable, `settings_bad` if it belongs to another application,
 * `schema_unknown` if it was migrated by files that are not this version's.
 */
export async function openServiceDatabase(options: ServiceDatabaseOptions): Promise<ServiceDatabase> {
  const db = openDatabase<ServiceTables>(options)
  try {
    await pingDatabase(db).catch(nameUnreachable)
    await migrate(db, migrations, name).catch((error: unknown) => nameForeign(db, error))
    return db
  } catch (error) {
    await db.destroy()
    throw error
  }
}

function nameUnreachable(error: unknown): never {
  const details = { what: "reaching the service's database", problem: messageOf(error) }
  throw new Fault('remote_failed', details, { cause: error })
}

/** The daemon migrates its database with other files. The schema `service` identifies the service's own. */
async function nameForeign(db: ServiceDatabase, error: unknown): Promise<never> {
  if (!isFault(error, 'schema_unknown')) throw error
  const { rows } = await sql`select where to_regnamespace('service') is not null`.execute(db)
  if (rows.length > 0) throw error
  const fault = 'the database belongs to another application; the deposit service needs a database of its own'
  throw new Fault('settings_bad', { faults: [fault] }, { cause: error })
}
