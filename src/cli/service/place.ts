import { EnvironmentReader } from '../../config/environment.ts'
import { Fault } from '../../core/errors.ts'
import { readServicePlace, type ServicePlace } from '../../sandbox/service-files.ts'
import { openServiceDatabase } from '../../service/service-database.ts'
import type { ServiceDatabase } from '../../service/tables.ts'
import { type Context, embeddedFolder } from '../context.ts'

/**
 * The addresses of the service that runs on local chains in this folder.
 * @throws Fault `remote_failed` if none runs
 */
export function runningPlace(): ServicePlace {
  const place = readServicePlace(embeddedFolder)
  if (place !== null && isRunning(place.pid)) return place
  throw new Fault('remote_failed', {
    what: 'reaching the deposit service of this folder',
    problem: 'none is running; start one with "bin/depositd service"',
  })
}

/** Opens the service's database for one command: that of the settings, otherwise that of the service in this folder. */
export async function withServiceDatabase<Result>(
  { environment }: Context,
  work: (db: ServiceDatabase) => Promise<Result>,
): Promise<Result> {
  const reader = new EnvironmentReader(environment)
  const isSet = reader.optional('SERVICE_DATABASE_URL') !== undefined
  const url = isSet
    ? reader.url('SERVICE_DATABASE_URL', ['postgres', 'postgresql'])
    : runningPlace().databaseUrl
  if (reader.faults.length > 0) throw new Fault('settings_bad', { faults: [...new Set(reader.faults)] })
  const db = await openServiceDatabase({ url, poolMax: 2, applicationName: 'depositd service keys' })
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // The process exists but belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
