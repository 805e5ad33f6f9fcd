import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { startPostgres } from '../../src/sandbox/postgres.ts'
import { openDatabase } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { templateDatabase } from './template-database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A running server's maintenance database. */
    postgresUrl: string
  }
}

let close: () => Promise<void> = () => Promise.resolve()

/** One throwaway server for the whole run, with one migrated database that test files clone. */
export async function setup(project: TestProject): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'depositd-test-'))
  const server = await startPostgres({ folder, durability: 'none', log: pino({ level: 'warn' }) })
  close = async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
  await server.createDatabase(templateDatabase)
  await migrateTemplate(server.url(templateDatabase))
  project.provide('postgresUrl', server.url('postgres'))
}

export function teardown(): Promise<void> {
  return close()
}

async function migrateTemplate(url: string): Promise<void> {
  const migrations = join(import.meta.dirname, '../../db/migrations')
  if (!existsSync(migrations)) return
  const db = openDatabase({ url, poolMax: 2, applicationName: 'migrate' })
  try {
    await migrate(db, migrations)
  } finally {
    await db.destroy()
  }
}
