import { type Environment, type EnvironmentReader, readFrom } from './environment.ts'

/** URLs of the database and of the queue. */
export type StorageUrls = { databaseUrl: string; queueUrl: string }

const databaseSchemes = ['postgres', 'postgresql']
const queueSchemes = ['redis', 'rediss', ...databaseSchemes]

export function readPlace(reader: EnvironmentReader): StorageUrls {
  const databaseUrl = readDatabaseUrl(reader)
  return { databaseUrl, queueUrl: reader.url('QUEUE_URL', queueSchemes, databaseUrl) }
}

/** Whether the queue is in the same database, whichever users log in. */
export function isOnePlace({ databaseUrl, queueUrl }: StorageUrls): boolean {
  const queue = new URL(queueUrl)
  return queue.protocol.startsWith('postgres') && placeOf(new URL(databaseUrl)) === placeOf(queue)
}

function placeOf({ hostname, port, pathname }: URL): string {
  return `${hostname}:${port || '5432'}${pathname}`
}

/**
 * Reads only the URLs of the database and of the queue.
 * @throws Fault `settings_bad`
 */
export function parsePlace(environment: Environment): StorageUrls {
  return readFrom(environment, readPlace)
}

/**
 * Reads only the URL of the database, for commands that need nothing else.
 * @throws Fault `settings_bad`
 */
export function parseDatabaseUrl(environment: Environment): string {
  return readFrom(environment, readDatabaseUrl)
}

function readDatabaseUrl(reader: EnvironmentReader): string {
  return reader.url('DATABASE_URL', databaseSchemes)
}
