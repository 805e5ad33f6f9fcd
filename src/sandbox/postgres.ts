import { setTimeout as sleep } from 'node:timers/promises'
import { Client, escapeIdentifier } from 'pg'
import type { Logger } from 'pino'
import { Fault, messageOf } from '../core/errors.ts'
import { loopback, onFreePort } from './free-port.ts'
import { openCluster, type PostgresCluster, postgresProcess } from './postgres-cluster.ts'
import { type Child, lastOutput, startChild } from './processes.ts'

export type PostgresSettings = {
  folder: string
  /** If absent or in use, a free port is chosen. */
  port?: number
  durability?: 'full' | 'none'
  /** In PostgreSQL's notation. */
  sharedBuffers?: string
  environment?: Readonly<Record<string, string>>
  log: Logger
}

export type PostgresServer = {
  url(database: string): string
  /** Does nothing if the database exists. */
  createDatabase(name: string): Promise<void>
  stop(): Promise<void>
}

const startWithinMs = 20_000
const retryEveryMs = 25
const duplicateDatabase = '42P04'

/**
 * On loopback.
 * @throws Fault `remote_failed`
 */
export async function startPostgres(settings: PostgresSettings): Promise<PostgresServer> {
  const cluster = await openCluster(settings.folder, settings.log)
  const { server, url } = await onFreePort(settings.port, (port) => startServer(cluster, settings, port))
  return { url, createDatabase: (name) => createDatabase(url('postgres'), name), stop: () => server.stop() }
}

async function startServer(
  cluster: PostgresCluster,
  settings: PostgresSettings,
  port: number,
): Promise<{ server: Child; url: PostgresServer['url'] }> {
  const { folder, durability = 'full', sharedBuffers = '32MB', environment = {} } = settings
  const { env, ...program } = postgresProcess(cluster, { port, durability, sharedBuffers })
  const server = await startChild({ ...program, env: { ...env, ...environment } })
  const url = (database: string): string =>
    `postgres://postgres:${cluster.password}@${loopback}:${port}/${encodeURIComponent(database)}`
  const outcome = await Promise.race([untilReady(url('postgres')), endedEarly(server)])
  if (outcome === 'ready') return { server, url }
  await server.stop()
  const problem = `${outcome}; ${lastOutput(folder, 'postgres')}`
  throw new Fault('remote_failed', { what: 'starting PostgreSQL', problem })
}

async function untilReady(url: string): Promise<string> {
  const deadline = Date.now() + startWithinMs
  for (;;) {
    try {
      await query(url, 'select 1')
      return 'ready'
    } catch (error) {
      if (Date.now() > deadline) return messageOf(error)
      await sleep(retryEveryMs)
    }
  }
}

async function endedEarly(server: Child): Promise<string> {
  return `it ended with ${await server.ended}`
}

async function createDatabase(url: string, name: string): Promise<void> {
  try {
    await query(url, `create database ${escapeIdentifier(name)}`)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === duplicateDatabase)) throw error
  }
}

async function query(url: string, text: string): Promise<void> {
  const client = new Client({ connectionString: url })
  // A server that goes away during the connect must not end the process; the query reports the error.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query(text)
  } finally {
    await client.end()
  }
}
