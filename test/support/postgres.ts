import { randomBytes } from 'node:crypto'
import { Client, escapeIdentifier, Pool } from 'pg'
import { booksTemplate, serviceTemplate, templateDatabase } from './template-database.ts'

export type TestDatabase = {
  url: string
  /** Closes every connection to it and removes it. */
  drop: () => Promise<void>
}

/** A migrated database of one test file's own. */
export function testDatabase(): Promise<TestDatabase> {
  return create(cloneOf(templateDatabase))
}

/** The same, with the assets and owners of the made-up world. */
export function booksDatabase(): Promise<TestDatabase> {
  return create(cloneOf(booksTemplate))
}

/** The service's own, migrated. */
export function serviceDatabase(): Promise<TestDatabase> {
  return create(cloneOf(serviceTemplate))
}

/** Of a database to which nothing is connected. */
export function copyOf(url: string): Promise<TestDatabase> {
  return create(cloneOf(new URL(url).pathname.slice(1)))
}

export function cloneOf(name: string): string {
  return `template ${escapeIdentifier(name)} strategy file_copy`
}

/** A database with nothing in it. */
export function emptyDatabase(): Promise<TestDatabase> {
  return create('template template0')
}

async function create(options: string): Promise<TestDatabase> {
  // Programs that bring a server of their own use what is beside this, and run without the test runner.
  const { inject } = await import('vitest')
  const serverUrl = inject('postgresUrl')
  const name = `test_${randomBytes(8).toString('hex')}`
  await maintain(serverUrl, `create database ${name} ${options}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => maintain(serverUrl, `drop database if exists ${name} with (force)`) }
}

let maintenance: Pool | undefined

/** On connections that the files of a process share, which do not keep it alive. */
async function maintain(connectionString: string, text: string): Promise<void> {
  maintenance ??= new Pool({ connectionString, max: 4, allowExitOnIdle: true }).on('error', () => undefined)
  await maintenance.query(text)
}

/** Runs statements on a connection of their own. */
export async function run(url: string, text: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}
