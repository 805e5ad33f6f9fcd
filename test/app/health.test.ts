import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Daemon, startDaemon } from '../../src/app/daemon.ts'
import { parseSettings } from '../../src/config/settings.ts'
import type { Role } from '../../src/health.ts'
import type { ReadinessReport } from '../../src/ops/readiness.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { redisInstalled, startRedis } from '../support/redis.ts'
import { makeSecret } from '../support/sign-webhook.ts'
import { type StallingProxy, startStallingProxy } from '../support/stalling-proxy.ts'

let database: Awaited<ReturnType<typeof emptyDatabase>>
let proxy: StallingProxy
let db: Database<Tables>

beforeAll(async () => {
  database = await emptyDatabase()
  proxy = await startStallingProxy(database.url)
  db = openDatabase<Tables>({ url: database.url, poolMax: 2, applicationName: 'test' })
})
afterAll(async () => {
  await db.destroy()
  await proxy[Symbol.asyncDispose]()
  await database.drop()
})

async function settingsWith(changes: Record<string, string> = {}) {
  const environment = {
    DATABASE_URL: proxy.url,
    QUEUE_URL: database.url,
    SERVICE_URL: 'http://127.0.0.1:9',
    SERVICE_API_KEY: 'key',
    WEBHOOK_SECRETS: makeSecret(),
    RPC_BASE: 'http://127.0.0.1:9',
    HTTP_HOST: loopback,
    HTTP_PORT: String(await freePort()),
    OPS_PORT: String(await freePort()),
    ...changes,
  }
  return parseSettings(environment, () => '')
}

type Running = AsyncDisposable & { daemon: Daemon }

async function start(roles: readonly Role[], changes?: Record<string, string>): Promise<Running> {
  const log = pino({ level: 'silent' })
  const daemon = await startDaemon(await settingsWith(changes), { roles, version: 'test', log })
  return { daemon, [Symbol.asyncDispose]: () => daemon.stop() }
}

async function readiness(opsUrl: string): Promise<ReadinessReport & { status: number }> {
  const response = await fetch(`${opsUrl}/readyz`)
  return { status: response.status, ...((await response.json()) as ReadinessReport) }
}

/** As if each had last come to its end so long ago. */
async function age(seconds: number, ...streams: string[]): Promise<void> {
  await sql`
    insert into stream (name, succeeded_at)
    select name, now() - ${seconds} * interval '1 second' from unnest(${streams}::text[]) as name
    on conflict (name) do update set succeeded_at = excluded.succeeded_at`.execute(db)
}

const parts = (problems: readonly { part: string }[]) => problems.map(({ part }) => part)

test('it is alive, and says that it starts, while another process migrates; then it goes on', async () => {
  const settings = await settingsWith()
  const url = `http://${loopback}:${settings.ops.port}`
  // The lock of migrations, as Kysely takes it.
  const other = openDatabase<Tables>({ url: database.url, poolMax: 1, applicationName: 'test' })
  await sql`select pg_advisory_lock(3853314791062309107)`.execute(other)
  const starting = startDaemon(settings, { roles: [], version: 'test', log: pino({ level: 'silent' }) })
  await expect
    .poll(() =>
      fetch(`${url}/livez`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200)
  expect(await readiness(url)).toMatchObject({ status: 503, unready: [{ part: 'start' }] })
  await other.destroy()
  const daemon = await starting
  expect((await readiness(url)).unready).not.toContainEqual(expect.objectContaining({ part: 'start' }))
  await daemon.stop()
})

test('worker and scheduler give signs of life by the way that all work takes', async () => {
  await using running = await start(['worker', 'scheduler'])
  const unready = async () => parts((await readiness(running.daemon.opsUrl)).unready)
  // A sign of life may come at any time, also between the two.
  const unreadyOnceAged = async () => {
    await age(3600, 'scheduler', 'worker')
    return unready()
  }
  await expect.poll(unreadyOnceAged).toEqual(['scheduler', 'worker'])
  await expect.poll(unready, { timeout: 30_000 }).toEqual([])
})

describe('what is not well keeps from being ready', () => {
  const old = ['scheduler', 'worker', 'poll', 'scan/base']

  test.each<[Role[], string[]]>([
    [['http'], []],
    [['worker'], ['inbox', 'worker', 'poll', 'scan/base']],
    [
      ['worker', 'scheduler'],
      ['scheduler', 'inbox', 'worker', 'poll', 'scan/base'],
    ],
    // Whoever takes webhooks and does more besides could store them all the same.
    [['http', 'worker'], []],
  ])('%s only where its own work needs it, and is told anyway', async (roles, unready) => {
    const added = await sql<{ id: bigint }>`
      with added as (
        insert into inbox (source, source_key, body, received_at) values ('api', ${roles.join()}, '{', now()) returning id
      )
      insert into inbox_pending (inbox_id, received_at, stored_at)
      select id, now(), now() - interval '2 minutes' from added returning inbox_id as id`.execute(db)
    const id = added.rows[0]?.id ?? 0n
    // As if somebody were at it: else a worker that starts might have applied it before it is asked.
    const atIt = await db.startTransaction().execute()
    await sql`select from inbox_pending where inbox_id = ${id} for update`.execute(atIt)
    try {
      await using running = await start(roles)
      // A sign of life may come at any time, also between the two.
      const reportedOnceAged = async () => {
        await age(3600, ...old)
        const answer = await readiness(running.daemon.opsUrl)
        const reported = parts([...answer.unready, ...answer.warnings]).toSorted()
        return { status: answer.status, unready: parts(answer.unready).toSorted(), reported }
      }
      await expect.poll(reportedOnceAged).toEqual({
        status: unready.length === 0 ? 200 : 503,
        unready: unready.toSorted(),
        reported: [...old, 'inbox'].toSorted(),
      })
    } finally {
      await sql`delete from inbox_pending where inbox_id = ${id}`.execute(atIt)
      await atIt.commit().execute()
      await age(0, ...old)
    }
  })
})

test('a schema that lacks something is named; one of a newer version does not stop what is running', async () => {
  await using running = await start(['http'])
  const { rows } = await sql<{ name: string; timestamp: string }>`
    delete from kysely_migration where name = (select max(name) from kysely_migration) returning name, timestamp`.execute(
    db,
  )
  expect(await readiness(running.daemon.opsUrl)).toMatchObject({ status: 503, unready: [{ part: 'schema' }] })
  const [{ name, timestamp } = { name: '', timestamp: '' }] = rows
  const future = [name, '9999_future']
  await sql`insert into kysely_migration select unnest(${future}::text[]), ${timestamp}`.execute(db)
  expect(await readiness(running.daemon.opsUrl)).toMatchObject({
    status: 200,
    warnings: [{ part: 'schema', problem: expect.stringContaining('from a newer version') }],
  })
  await sql`update kysely_migration set name = '9999_future_contract' where name = '9999_future'`.execute(db)
  expect(await readiness(running.daemon.opsUrl)).toMatchObject({
    status: 200,
    warnings: [
      {
        part: 'schema',
        problem: expect.stringContaining('9999_future_contract removed something that it uses'),
      },
    ],
  })
  await sql`delete from kysely_migration where name like '9999_future%'`.execute(db)
})

test('a database that answers and takes nothing is named, as after a failover to a standby', async () => {
  await using running = await start(['http'])
  const { opsUrl } = running.daemon
  expect(await readiness(opsUrl)).toMatchObject({ status: 200 })
  const name = new URL(database.url).pathname.slice(1)
  const reconnect = () =>
    sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'depositd health'
      and datname = ${name}`.execute(db)
  await sql`alter database ${sql.ref(name)} set default_transaction_read_only = on`.execute(db)
  await reconnect()
  const problem = expect.stringContaining('read-only') as string
  await expect
    .poll(() => readiness(opsUrl))
    .toMatchObject({ status: 503, unready: [{ part: 'database', problem }] })
  await sql`alter database ${sql.ref(name)} reset default_transaction_read_only`.execute(db)
  await reconnect()
  await expect.poll(() => readiness(opsUrl)).toMatchObject({ status: 200 })
})

test('a database that hangs is named in time, and found again once it goes on', async () => {
  await using running = await start(['http'])
  const { opsUrl } = running.daemon
  expect(await readiness(opsUrl)).toMatchObject({ status: 200 })
  proxy.stall()
  const began = performance.now()
  for (let times = 0; times < 2; times++)
    expect(await readiness(opsUrl)).toMatchObject({
      status: 503,
      unready: [{ part: 'database' }],
      fine: ['queue'],
    })
  expect(performance.now() - began).toBeLessThan(8000)
  expect((await fetch(`${opsUrl}/livez`)).status).toBe(200)
  proxy.admit()
  await expect.poll(() => readiness(opsUrl), { timeout: 15_000 }).toMatchObject({ status: 200 })
  proxy.resume()
})

test.skipIf(!redisInstalled())(
  'a queue that is away keeps the worker from being ready, and not who takes webhooks',
  async () => {
    const redis = await startRedis()
    const changes = { QUEUE_URL: redis.url }
    await using http = await start(['http'], changes)
    await using worker = await start(['worker'], changes)
    expect(await readiness(worker.daemon.opsUrl)).toMatchObject({ status: 200, unready: [] })
    await redis.stop()
    expect(await readiness(worker.daemon.opsUrl)).toMatchObject({ status: 503, unready: [{ part: 'queue' }] })
    expect(await readiness(http.daemon.opsUrl)).toMatchObject({ status: 200, warnings: [{ part: 'queue' }] })
  },
)
