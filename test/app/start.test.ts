import { type Kysely, sql } from 'kysely'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { startDaemon } from '../../src/app/daemon.ts'
import { parseSettings, type Settings } from '../../src/config/settings.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { startPostgres } from '../../src/sandbox/postgres.ts'
import { openDatabase } from '../../src/store/database.ts'
import { untilReached } from '../../src/store/database-errors.ts'
import { appendInbox } from '../../src/store/inbox.ts'
import type { Tables } from '../../src/store/tables.ts'
import { withoutWorkers } from '../../src/store/worker-lock.ts'
import { temporaryFolder } from '../support/folder.ts'
import { madeUpNetworks, settingsEnvironment } from '../support/judging-environment.ts'
import { addPeople, runDecided } from '../support/people.ts'
import { testDatabase } from '../support/postgres.ts'
import { makeSecret } from '../support/sign-webhook.ts'
import { until } from '../support/until.ts'

test('a worker that starts while Postgres restarts waits for it, and says so', async () => {
  const folder = await temporaryFolder()
  const log = pino({ level: 'silent' })
  const first = await startPostgres({ folder, durability: 'none', log })
  await first.createDatabase('books')
  const url = first.url('books')
  await first.stop()
  const lines: string[] = []
  const settings = settingsFor(url, await freePort())
  const starting = startDaemon(settings, {
    roles: ['worker'],
    version: 'test',
    log: pino({ level: 'warn' }, { write: (line) => void lines.push(line) }),
  })
  await until('it says that it waits', () => lines.some((line) => line.includes('ECONNREFUSED')) || null)
  const second = await startPostgres({ folder, port: Number(new URL(url).port), durability: 'none', log })
  onTestFinished(() => second.stop())
  const daemon = await starting
  await daemon.stop()
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ event: 'server_awaited', level: 40 })
})

test('a start gives up on a server that stays away, and on a refusal at once', async () => {
  const bounds = { maxMs: 500, retryEveryMs: 10, reportEveryMs: 1000 }
  const said: unknown[] = []
  const failing = (error: Error) => {
    let calls = 0
    const work = () => {
      calls++
      return Promise.reject(error)
    }
    return { calls: () => calls, ended: untilReached(work, (failure) => said.push(failure), bounds) }
  }
  const away = failing(
    new Error('query', { cause: Object.assign(new Error('no'), { code: 'ECONNREFUSED' }) }),
  )
  await expect(away.ended).rejects.toThrow('query')
  expect(away.calls()).toBeGreaterThan(1)
  expect(said).toHaveLength(1)
  const refused = failing(Object.assign(new Error('password'), { code: '28P01' }))
  await expect(refused.ended).rejects.toThrow('password')
  expect([refused.calls(), said.length]).toEqual([1, 1])
})

test('a worker takes what waited for it as soon as it starts, without a tick of any schedule', async () => {
  await using stack = new AsyncDisposableStack()
  const database = await testDatabase()
  stack.defer(() => database.drop())
  const db = openDatabase<Tables>({ url: database.url, poolMax: 1, applicationName: 'test' })
  stack.defer(() => db.destroy())
  const body = Buffer.from(JSON.stringify({ id: 'evt_1', type: 'endpoint.test', data: {} }))
  await appendInbox(db, [
    { source: 'webhook', sourceKey: 'evt_1', body, headers: {}, receivedAt: new Date() },
  ])
  const settings = settingsFor(database.url, await freePort())
  const log = pino({ level: 'silent' })
  const daemon = await startDaemon(settings, { roles: ['worker'], version: 'test', log })
  stack.defer(() => daemon.stop())
  const applied = await until('nothing waits', async () => {
    const { rows } = await sql`select from inbox_pending`.execute(db)
    return rows.length === 0 || null
  })
  expect(applied).toBe(true)
})

const restore = 'rebuild --restore --reason lost'

test('a restore is refused while a worker runs, also after its session was lost; and a worker while it runs', async () => {
  await using stack = new AsyncDisposableStack()
  const database = await testDatabase()
  stack.defer(() => database.drop())
  const db = openDatabase<Tables>({ url: database.url, poolMax: 2, applicationName: 'test' })
  stack.defer(() => db.destroy())
  const environment = settingsEnvironment(database.url, await temporaryFolder(), madeUpNetworks)
  const settings = settingsFor(database.url, await freePort())
  const options = { version: 'test', log: pino({ level: 'silent' }) }
  const daemon = await startDaemon(settings, { ...options, roles: ['worker'] })
  stack.defer(() => daemon.stop())
  await addPeople(db)
  const refused = await runDecided(restore, environment)
  expect(refused).toMatchObject({ status: 2, out: '' })
  expect(refused.err).toMatch(
    /^depositd: a worker of the daemon runs, .*: \d+\); stop every process of the daemon/,
  )
  const session = await lockSession(db)
  await sql`select pg_terminate_backend(${session})`.execute(db)
  await until('another session has the lock', async () => {
    const now = await lockSession(db)
    return (now !== session && now) || null
  })
  expect((await runDecided(restore, environment)).err).toContain('a worker of the daemon runs')
  await daemon.stop()
  expect(await runDecided(restore, environment)).toMatchObject({ status: 0 })
  await withoutWorkers(db, async () => {
    const starting = startDaemon(settings, { ...options, roles: ['worker', 'scheduler'] })
    await expect(starting).rejects.toMatchObject({ code: 'remote_failed' })
    expect((await runDecided(restore, environment)).err).toContain('or another restore')
    await (await startDaemon(settings, { ...options, roles: ['scheduler'] })).stop()
  })
  await (await startDaemon(settings, { ...options, roles: ['worker'] })).stop()
}, 120_000)

async function lockSession(db: Kysely<Tables>): Promise<number | null> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and granted
      and ((classid::bigint << 32) | objid::bigint) = hashtext('depositd worker')::bigint
      and database = (select oid from pg_database where datname = current_database())`.execute(db)
  return rows[0]?.pid ?? null
}

function settingsFor(databaseUrl: string, opsPort: number): Settings {
  return parseSettings(
    {
      DATABASE_URL: databaseUrl,
      SERVICE_URL: 'http://127.0.0.1:9',
      SERVICE_API_KEY: 'key',
      WEBHOOK_SECRETS: makeSecret(),
      RPC_BASE: 'http://127.0.0.1:9',
      OPS_HOST: loopback,
      OPS_PORT: opsPort.toString(),
    },
    () => '',
  )
}
