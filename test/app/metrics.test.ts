import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDaemon } from '../../src/app/daemon.ts'
import { composeGauges } from '../../src/app/metrics.ts'
import { parseSettings, type Settings } from '../../src/config/settings.ts'
import type { Role } from '../../src/health.ts'
import { createMetrics } from '../../src/ops/metrics.ts'
import { createObserver } from '../../src/ops/observe.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type Books, openBooks } from '../support/books.ts'
import { makeSecret } from '../support/sign-webhook.ts'

let books: Books
beforeAll(async () => {
  books = await openBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const silent = pino({ level: 'silent' })

async function settingsOf(changes: Record<string, string> = {}) {
  const environment = {
    DATABASE_URL: books.url,
    SERVICE_URL: 'http://127.0.0.1:9',
    SERVICE_API_KEY: 'key',
    WEBHOOK_SECRETS: makeSecret(),
    RPC_BASE: 'http://127.0.0.1:9',
    HTTP_HOST: loopback,
    HTTP_PORT: String(await freePort()),
    OPS_HOST: loopback,
    OPS_PORT: String(await freePort()),
    ...changes,
  }
  return parseSettings(environment, () => '')
}

async function startedDaemon(settings: Settings, roles: readonly Role[]) {
  const daemon = await startDaemon(settings, { roles, version: 'test', log: silent })
  return { ...daemon, [Symbol.asyncDispose]: () => daemon.stop() }
}

/** What the sessions that read gauges do just now, as the owner sees it: from other logins Postgres hides it. */
async function statesOf(owner: Database<Tables>): Promise<string[]> {
  const { rows } = await sql<{ state: string }>`
    select state from pg_stat_activity where application_name = 'depositd gauges'
      and datname = current_database()`.execute(owner)
  return rows.map(({ state }) => state)
}

test('gauges that hang hold three connections of their own at most, and Postgres itself ends what they ask', async () => {
  await using stack = new AsyncDisposableStack()
  const owner = openDatabase<Tables>({ url: books.url, poolMax: 2, applicationName: 'test owner' })
  stack.defer(() => owner.destroy())
  const queue = { counts: () => Promise.resolve({ waiting: 2 }) } as never
  const metrics = createMetrics('test')
  const observer = createObserver(metrics, silent)
  observer.rpc({ network: 'base', node: 'near', method: 'eth_call', outcome: 'ok', seconds: 1 })
  observer.rpc({ network: 'base', node: 'near', method: 'eth_call', outcome: 'error', seconds: 1 })
  observer.rpcNode({ network: 'base', node: 'near', score: 0.5 })
  const { read, nodes } = stack.use(composeGauges(await settingsOf(), { queue, observer, metrics }))
  expect(await nodes()).toEqual([{ network: 'base', node: 'near', score: 0.5, requests: 2, errors: 1 }])
  await owner.transaction().execute(async (tx) => {
    await sql`lock table deposit, deposit_hour, stream in access exclusive mode`.execute(tx)
    const reads = Promise.all([read(), read(), read()])
    await expect.poll(() => statesOf(owner)).toEqual(['active', 'active', 'active'])
    const [reported] = await reads
    expect(reported).toMatchObject({
      live: null,
      totals: null,
      scorecard: null,
      queue: { value: { waiting: 2 } },
    })
    expect(await statesOf(owner)).toHaveLength(3)
    // Long before Postgres would end the wait for the lock.
    await expect.poll(() => statesOf(owner), { timeout: 15_000 }).not.toContain('active')
  })
  // What was asked for last may still be given up.
  await expect.poll(async () => (await read()).live).not.toBeNull()
}, 60_000)

test('a daemon shows the addresses that others can open, for alerts to link to', async () => {
  const runbook = `https://docs.example/${'long/'.repeat(40)}runbook.md`
  const links = { PUBLIC_URL: 'http://localhost:9464', DASHBOARDS_URL: 'https://grafana.example/' }
  const settings = await settingsOf({ ...links, RUNBOOK_URL: runbook })
  await using daemon = await startedDaemon(settings, ['http'])
  const text = await (await fetch(`${daemon.opsUrl}/metrics`)).text()
  const shown = [...text.matchAll(/^depositd_link_info(.*) 1$/gm)].map(([, labels]) => labels)
  expect(shown).toEqual([
    '{to="dashboards",url="https://grafana.example"}',
    `{to="runbook",url="${runbook}"}`,
  ])
}, 60_000)

test('a process that only takes webhooks leaves to workers what is dear to read', async () => {
  const settings = await settingsOf()
  const parts = async (roles: readonly Role[]) => {
    await using daemon = await startedDaemon(settings, roles)
    const text = await (await fetch(`${daemon.opsUrl}/metrics`)).text()
    return [...text.matchAll(/^depositd_gauges_readable\{part="(\w+)"\} 1$/gm)].map(([, part]) => part)
  }
  expect(await parts(['http'])).toEqual(['live', 'queue'])
  expect(await parts(['worker'])).toEqual(['live', 'totals', 'scorecard', 'queue'])
}, 60_000)
