import { randomBytes } from 'node:crypto'
import { Client, escapeIdentifier } from 'pg'
import { templateDatabase } from './template-database.ts'

export type TestDatabase = {
  url: string
  /** Closes every connection to it and removes it. */
  drop: () => Promise<void>
}

/** A migrated database of one test file's own. */
export function testDatabase(): Promise<TestDatabase> {
  return create(`template ${escapeIdentifier(templateDatabase)} strategy file_copy`)
}

/** Of a database to which nothing is connected. */
export function copyOf(url: string): Promise<TestDatabase> {
  return create(`template ${escapeIdentifier(new URL(url).pathname.slice(1))} strategy file_copy`)
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
  await run(serverUrl, `create database ${name} ${options}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => run(serverUrl, `drop database if exists ${name} with (force)`) }
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
