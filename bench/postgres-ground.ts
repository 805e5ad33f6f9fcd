import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RawBuilder, sql } from 'kysely'
import { pino } from 'pino'
import { startPostgres } from '../src/sandbox/postgres.ts'
import { type Database, openDatabase } from '../src/store/database.ts'
import { migrate, migrationsFolder } from '../src/store/migrate.ts'

import type { Tables } from '../src/store/tables.ts'

/** A server of the measurement's own, with full durability, on data that is thrown away. */
export type PostgresGround = {
  folder: string
  /** A migrated database of that name, and a connection pool of its owner. */
  database: (name: string) => Promise<{ url: string; db: Database<Tables> }>
  /** Works in a copy of a database that nobody is connected to, and drops it. */
  inCopy: <Result>(template: string, work: (url: string) => Promise<Result>) => Promise<Result>
  /** What decides how durable and how fast the server is, by its own word. */
  settings: () => Promise<Record<string, string>>
}

export type Kept = 'commits' | 'statements'

const settingOf: Record<Kept, RawBuilder<unknown>> = {
  commits: sql`track_commit_timestamp = on`,
  statements: sql`shared_preload_libraries = pg_stat_statements`,
}

const postgresSettings = [
  'server_version',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'wal_sync_method',
  'shared_buffers',
  'max_wal_size',
  'track_commit_timestamp',
]

/** As a server has that is not a laptop's: with less, the time to fetch pages is measured beside the work. */
const sharedBuffers = '1GB'

/** Copying a large database takes minutes. */
const queryTimeoutMs = 3_600_000

const open = (url: string) =>
  openDatabase<Tables>({ url, poolMax: 4, applicationName: 'bench', queryTimeoutMs })

/** @param kept `commits`: when each transaction was committed, and `statements`: what each cost, can be read afterwards. */
export async function startPostgresGround(
  stack: AsyncDisposableStack,
  kept: Kept | null = null,
): Promise<PostgresGround> {
  const folder = await mkdtemp(join(tmpdir(), 'depositd-bench-'))
  // COPY writes files as the server's user, which is another one if root runs the bench.
  await chmod(folder, 0o733)
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const settings = { folder, durability: 'full', sharedBuffers, log: pino({ level: 'warn' }) } as const
  let postgres = await startPostgres(settings)
  stack.defer(() => postgres.stop())
  if (kept !== null) {
    await keep(postgres.url('postgres'), settingOf[kept])
    await postgres.stop()
    postgres = await startPostgres(settings)
  }
  const inServer = async <Result>(work: (db: Database<Tables>) => Promise<Result>): Promise<Result> => {
    const db = open(postgres.url('postgres'))
    try {
      return await work(db)
    } finally {
      await db.destroy()
    }
  }
  return {
    folder,
    async database(name) {
      await postgres.createDatabase(name)
      const url = postgres.url(name)
      const db = open(url)
      stack.defer(() => db.destroy())
      await migrate(db, migrationsFolder)
      return { url, db }
    },
    inCopy: (template, work) =>
      inServer(async (db) => {
        const name = `copy_of_${template}`
        await sql`create database ${sql.id(name)} template ${sql.id(template)} strategy file_copy`.execute(db)
        // What was written before is not to be written while time is taken.
        await sql`checkpoint`.execute(db)
        try {
          return await work(postgres.url(name))
        } finally {
          await sql`drop database ${sql.id(name)} with (force)`.execute(db)
        }
      }),
    settings: () =>
      inServer(async (db) => {
        const { rows } = await sql<{ name: string; setting: string }>`
          select name, current_setting(name) as setting from pg_settings
          where name = any(${postgresSettings}) order by name`.execute(db)
        return Object.fromEntries(rows.map(({ name, setting }) => [`postgres ${name}`, setting]))
      }),
  }
}

async function keep(url: string, setting: RawBuilder<unknown>): Promise<void> {
  const db = open(url)
  try {
    await sql`alter system set ${setting}`.execute(db)
  } finally {
    await db.destroy()
  }
}
