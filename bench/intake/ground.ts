import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { migrationsFolder } from '../../src/app.ts'
import { startPostgres } from '../../src/sandbox/postgres.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import type { Tables } from '../../src/store/tables.ts'
import { startRedis } from '../../test/support/redis.ts'

/** Servers of the measurement's own, with full durability, on data that is thrown away. */
export type Ground = {
  folder: string
  redisUrl: string
  /** A migrated database of that name, and a connection pool of its owner. */
  database: (name: string) => Promise<{ url: string; db: Database<Tables> }>
  /** What decides how durable and how fast the servers are, by their own word. */
  settings: () => Promise<Record<string, string>>
}

const postgresSettings = [
  'server_version',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'wal_sync_method',
  'shared_buffers',
  'max_wal_size',
]

const open = (url: string) => openDatabase<Tables>({ url, poolMax: 4, applicationName: 'bench' })

export async function startGround(stack: AsyncDisposableStack): Promise<Ground> {
  const folder = await mkdtemp(join(tmpdir(), 'depositd-bench-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const postgres = await startPostgres({ folder, durability: 'full', log: pino({ level: 'warn' }) })
  stack.defer(() => postgres.stop())
  const everySecond = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--dir', folder]
  const redis = await startRedis(...everySecond, '--maxmemory-policy', 'noeviction')
  stack.defer(() => redis.stop())
  return {
    folder,
    redisUrl: redis.url,
    async database(name) {
      await postgres.createDatabase(name)
      const url = postgres.url(name)
      const db = open(url)
      stack.defer(() => db.destroy())
      await migrate(db, migrationsFolder)
      return { url, db }
    },
    async settings() {
      const db = open(postgres.url('postgres'))
      const { rows } = await sql<{ name: string; setting: string }>`
        select name, current_setting(name) as setting from pg_settings
        where name = any(${postgresSettings}) order by name`.execute(db)
      await db.destroy()
      return {
        ...Object.fromEntries(rows.map(({ name, setting }) => [`postgres ${name}`, setting])),
        redis: 'appendonly yes, appendfsync everysec, maxmemory-policy noeviction',
      }
    },
  }
}
