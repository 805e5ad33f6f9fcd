import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { lockFolder } from '../../src/sandbox/ground.ts'
import { type PostgresServer, startPostgres } from '../../src/sandbox/postgres.ts'
import { endLeftover } from '../../src/sandbox/processes.ts'
import { openDatabase } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import type { Tables } from '../../src/store/tables.ts'
import { pinWorld } from './made-up-world.ts'
import { cloneOf, run } from './postgres.ts'
import { booksTemplate, serviceTemplate, templateDatabase } from './template-database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A running server's maintenance database. */
    postgresUrl: string
  }
}

const log = pino({ level: 'warn' })
const folderPrefix = 'depositd-test-'
const sql = join(import.meta.dirname, '../../db')
let close: () => Promise<void> = () => Promise.resolve()

/** One throwaway server for the whole run, with the migrated databases that test files clone. */
export async function setup(project: TestProject): Promise<void> {
  await removeAbandoned()
  const folder = await mkdtemp(join(tmpdir(), folderPrefix))
  const lock = lockFolder(folder)
  const server = await startPostgres({ folder, durability: 'none', log })
  close = async () => {
    await server.stop()
    lock.release()
    await rm(folder, { recursive: true, force: true })
  }
  await makeTemplates(server)
  project.provide('postgresUrl', server.url('postgres'))
}

export function teardown(): Promise<void> {
  return close()
}

async function makeTemplates(server: PostgresServer): Promise<void> {
  await server.createDatabase(templateDatabase)
  await within(server.url(templateDatabase), (db) => migrate(db, join(sql, 'migrations')))
  await run(server.url('postgres'), `create database ${booksTemplate} ${cloneOf(templateDatabase)}`)
  await within(server.url(booksTemplate), pinWorld)
  await server.createDatabase(serviceTemplate)
  await within(server.url(serviceTemplate), (db) => migrate(db, join(sql, 'service/migrations')))
}

async function within(url: string, work: (db: Kysely<Tables>) => Promise<unknown>): Promise<void> {
  const db = openDatabase<Tables>({ url, poolMax: 2, applicationName: 'migrate' })
  try {
    await work(db)
  } finally {
    await db.destroy()
  }
}

/** Ends the servers of runs that were killed. Runs beside this one hold their folders. */
async function removeAbandoned(): Promise<void> {
  const folders = (await readdir(tmpdir())).filter((name) => name.startsWith(folderPrefix))
  for (const folder of folders.map((name) => join(tmpdir(), name))) {
    if (!isAbandoned(folder)) continue
    await endLeftover(folder, 'postgres', log)
    await rm(folder, { recursive: true, force: true })
  }
}

function isAbandoned(folder: string): boolean {
  try {
    lockFolder(folder).release()
    return true
  } catch {
    return false
  }
}
