import { Fault } from '../core/errors.ts'
import { type Environment, EnvironmentReader } from './environment.ts'

/** Where the tables are, and where the queue is. */
export type Place = { databaseUrl: string; queueUrl: string }

const databaseSchemes = ['postgres', 'postgresql']
const queueSchemes = ['redis', 'rediss', ...databaseSchemes]

export function readPlace(reader: EnvironmentReader): Place {
  const databaseUrl = reader.url('DATABASE_URL', databaseSchemes)
  return { databaseUrl, queueUrl: reader.url('QUEUE_URL', queueSchemes, databaseUrl) }
}

/**
 * Reads only where the database and the queue are.
 * @throws Fault `settings_bad`
 */
export function parsePlace(environment: Environment): Place {
  const reader = new EnvironmentReader(environment)
  const place = readPlace(reader)
  if (reader.faults.length > 0) throw new Fault('settings_bad', { faults: reader.faults })
  return place
}

/**
 * Reads only where the database is, for commands that need nothing else.
 * @throws Fault `settings_bad`
 */
export function parseDatabaseUrl(environment: Environment): string {
  const reader = new EnvironmentReader(environment)
  const url = reader.url('DATABASE_URL', databaseSchemes)
  if (reader.faults.length > 0) throw new Fault('settings_bad', { faults: reader.faults })
  return url
}
