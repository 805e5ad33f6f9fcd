import { join } from 'node:path'
import { Fault, messageOf } from '../core/errors.ts'
import { openDatabase, pingDatabase } from '../store/database.ts'
import { migrate } from '../store/migrate.ts'
import type { ServiceDatabase, ServiceTables } from './tables.ts'

type Place = { url: string; poolMax: number; applicationName: string }

const migrations = join(import.meta.dirname, '../../db/service/migrations')

/**
 * Opens the database of the service, and brings its schema up to date.
 * @throws Fault `remote_failed` where it cannot be reached, `settings_bad` where it belongs to something else.
 */
export async function openServiceDatabase(place: Place): Promise<ServiceDatabase> {
  const db = openDatabase<ServiceTables>(place)
  try {
    await pingDatabase(db).catch(nameUnreachable)
    await migrate(db, migrations).catch(nameForeign)
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

/** Migrations that are not ours were made by the daemon, or by a newer service. */
function nameForeign(error: unknown): never {
  if (!messageOf(error).includes('corrupted migrations')) throw error
  const fault =
    'the database is of something else, or of a newer version; the deposit service needs a database of its own'
  throw new Fault('settings_bad', { faults: [fault] }, { cause: error })
}
