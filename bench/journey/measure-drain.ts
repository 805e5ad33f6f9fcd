import { Redis } from 'ioredis'
import { sql } from 'kysely'
import { openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { until } from '../../test/support/until.ts'
import type { Ground } from '../ground.ts'
import { holdInvariants } from '../reconcile/hold-invariants.ts'
import { storeBacklog } from '../reconcile/store-backlog.ts'
import { startProcess } from './daemons.ts'

/** Of one start of a daemon on a backlog. Seconds from the start of its process to the first commit of what it applied. */
export type DrainRound = { firstSeconds: number; rowsPerSecond: number }

export type DrainSettings = { rounds: number; rows: number; secret: string; until: 'first' | 'drained' }

type Progress = (text: string) => void

const rowsPerDeposit = 4
const withinMs = 3_600_000

/**
 * Starts a worker on copies of a backlog, with an empty queue: nobody wakes it but itself. The service is not there, so
 * that what is applied is what was stored.
 * @throws where the books are not what they must be once all is applied
 */
export async function measureDrain(
  ground: Ground,
  { rounds, rows, secret, until: wanted }: DrainSettings,
  progress: Progress,
): Promise<DrainRound[]> {
  const deposits = Math.round(rows / rowsPerDeposit)
  const template = `backlog_${wanted}`
  const { db } = await ground.database(template)
  await storeBacklog(db, deposits)
  await sql`vacuum analyze`.execute(db)
  await db.destroy()
  progress(`B7 ${rows} inbox rows are stored\n`)
  const results: DrainRound[] = []
  for (let round = 1; round <= rounds; round++) {
    const one = await ground.inCopy(template, (databaseUrl) =>
      drain(ground, { databaseUrl, deposits, secret, wanted }),
    )
    const said = wanted === 'first' ? '' : `, ${Math.round(one.rowsPerSecond)} rows/s`
    progress(`B7 round ${round}, ${rows} inbox rows: first after ${one.firstSeconds.toFixed(2)} s${said}\n`)
    results.push(one)
  }
  return results
}

type Draining = {
  databaseUrl: string
  deposits: number
  secret: string
  wanted: DrainSettings['until']
}

async function drain(
  ground: Ground,
  { databaseUrl, deposits, secret, wanted }: Draining,
): Promise<DrainRound> {
  await emptyQueue(ground.redisUrl)
  await using db = openDatabase<Tables>({ url: databaseUrl, poolMax: 1, applicationName: 'bench drain' })
  const places = {
    folder: ground.folder,
    databaseUrl,
    queueUrl: `${ground.redisUrl}/1`,
    serviceUrl: 'http://127.0.0.1:9',
    secret,
  }
  const daemon = await startProcess(places, 'worker,scheduler')
  try {
    await daemon.untilUp()
    const isDone =
      wanted === 'first'
        ? sql<{ done: boolean }>`select exists (select from evidence) as done`
        : sql<{ done: boolean }>`select not exists (select from inbox_pending) as done`
    await until(
      'the backlog is applied',
      async () => ((await isDone.execute(db)).rows[0]?.done ? true : null),
      withinMs,
    )
  } finally {
    await daemon.kill()
  }
  const { rows } = await sql<{ count: number; first: number; last: number }>`
    select count(*)::int as count, extract(epoch from min(at))::float8 as first,
      extract(epoch from max(at))::float8 as last
    from (select pg_xact_commit_timestamp(xmin) as at from evidence) as applied`.execute(db)
  const { count, first, last } = rows[0] ?? { count: 0, first: Number.NaN, last: Number.NaN }
  if (wanted === 'drained') await holdInvariants(db, 'drain', deposits)
  const startedAt = daemon.startedAt / 1000
  return { firstSeconds: first - startedAt, rowsPerSecond: count / (last - startedAt) }
}

/** What another database asked for is nothing to the next. */
async function emptyQueue(url: string): Promise<void> {
  const redis = new Redis(url)
  await redis.flushall()
  redis.disconnect()
}
