import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startDaemon } from '../../src/app/daemon.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { inTransaction } from '../../src/store/database.ts'
import { workOnCases } from '../../src/store/mismatches/cases.ts'
import { startAlertmanager } from '../support/alertmanager.ts'
import { amtoolInstalled, configurationForDebian } from '../support/amtool.ts'
import { type Books, openBooks } from '../support/books.ts'
import { honestNetworks, openNetworks, plant, plantedCauses } from '../support/planted-causes.ts'
import { type Prometheus, prometheusInstalled, startPrometheus } from '../support/prometheus.ts'
import { scrapeConfiguration } from '../support/scrape-configuration.ts'
import { makeSecret } from '../support/sign-webhook.ts'
import { until } from '../support/until.ts'

const names = plantedCauses.map(({ kind, network }) => `${kind} on ${network}`)

const page = z.object({ event_action: z.string(), payload: z.object({ summary: z.string() }).loose() })

/**
 * Forty causes, from stored evidence through the real decisions, a real daemon's metrics, a real Prometheus with the real rules
 * and a real Alertmanager with the real routes to a pager and a chat. Only its pace is another: a group gathers for a second.
 */
describe.skipIf(!prometheusInstalled() || !amtoolInstalled())('alerts about forty causes', () => {
  const stack = new AsyncDisposableStack()
  const received: { path: string; body: string }[] = []
  let books: Books
  let prometheus: Prometheus

  beforeAll(async () => {
    books = stack.use(await openBooks())
    await openNetworks(books)
    const receiver = createServer((request, response) => void take(request, response, received)).listen(
      0,
      loopback,
    )
    await once(receiver, 'listening')
    stack.defer(() => void receiver.close())
    const { path, remove } = configurationForDebian('grafana/alertmanager/alertmanager.yml', urlOf(receiver))
    stack.defer(remove)
    const alertmanager = await startAlertmanager(path)
    stack.defer(() => alertmanager.stop())
    const settings = parseSettings(await environmentOf(books), () => 'alerts: { after: 0s }')
    const log = pino({ level: 'silent' })
    const daemon = await startDaemon(settings, {
      roles: ['http'],
      version: 'test',
      log,
      gaugesKeptMaxMs: 500,
    })
    stack.defer(() => daemon.stop())
    const watched = { opsUrls: [daemon.opsUrl], everySeconds: 1, alertmanagerUrl: alertmanager.url }
    prometheus = await startPrometheus(scrapeConfiguration(watched))
    stack.defer(() => prometheus.stop())
  }, 120_000)
  afterAll(() => stack.disposeAsync())

  /** How many notifications about each cause the pager got. Those that end an incident are none. */
  const pages = (): Record<string, number> => {
    const counts: Record<string, number> = {}
    for (const { path, body } of received) {
      if (path !== '/pager') continue
      const { event_action: action, payload } = page.parse(JSON.parse(body))
      // No worker runs here, so the service is never polled.
      if (action !== 'trigger' || payload.summary.startsWith('DepositdPollDead')) continue
      const name =
        names.find((one) => payload.summary.replace(' of the service default', '').includes(one)) ??
        payload.summary
      counts[name] = (counts[name] ?? 0) + 1
    }
    return counts
  }
  const untilPaged = (count: number) =>
    until(`${count} pages`, () => (sum(pages()) >= count ? true : null), 120_000)

  const isCalm = async (): Promise<true | null> =>
    (await prometheus.query('depositd_causes_waiting > 0')).length === 0 || null

  /** Waits until the rules were evaluated several times with what is so now: an alert that is due has then gone out. */
  const untilEvaluated = async (): Promise<void> => {
    const since = Date.now() / 1000 + 6
    const last = 'max(timestamp(depositd_causes_waiting))'
    const isLater = async () => ((await prometheus.query(last))[0]?.samples[0]?.[1] ?? 0) > since || null
    await until('several evaluations', isLater, 120_000)
  }

  test('none goes out while nothing is wrong', async () => {
    for (const network of honestNetworks) await plant(books, { network, kind: null }, 'honest')
    await books.settle()
    await untilEvaluated()
    expect(received.filter(({ path }) => path !== '/watchdog')).toEqual([])
  }, 180_000)

  test('one goes out for each cause, whatever the number of deposits', async () => {
    const plantAll = async (...deposits: string[]) => {
      for (const name of deposits) for (const cause of plantedCauses) await plant(books, cause, name)
      await books.settle()
    }
    await plantAll('first', 'second')
    await untilPaged(names.length)
    await plantAll('third')
    await untilEvaluated()
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from mismatch where cleared_at is null`.execute(books.db)
    expect(rows).toEqual([{ count: 3 * names.length }])
    expect(pages()).toEqual(eachPaged(1))
    expect(received.filter(({ path }) => path === '/chat')).toHaveLength(names.length)
  }, 300_000)

  test('each leads to the console, the dashboard and the runbook, and to nothing else', () => {
    const leaving = received.filter(({ path }) => path !== '/watchdog').map(({ body }) => body)
    const links = leaving.flatMap((body) => body.match(/https?:\/\/[\w.:/-]*/g) ?? [])
    const hosts = new Set(links.map((link) => new URL(link).host))
    expect([...hosts].toSorted()).toEqual(['depositd.example', 'docs.example', 'grafana.example'])
    expect(leaving.filter((body) => /localhost|127\.0\.0\.1/.test(body))).toEqual([])
    for (const body of leaving) expect(body).toContain('https://depositd.example/mismatches?kind=')
  })

  test('none goes out for what somebody has taken, until it is overdue', async () => {
    await takeAll(books)
    await until('nothing calls for people', isCalm, 60_000)

    await sql`update mismatch set opened_at = opened_at - interval '2 minutes'`.execute(books.db)
    for (const cause of plantedCauses) await plant(books, cause, 'fourth')
    await books.settle()
    await untilEvaluated()
    expect(pages()).toEqual(eachPaged(1))
    await takeAll(books)

    await sql`update mismatch set opened_at = opened_at - interval '2 days'`.execute(books.db)
    await untilPaged(1.5 * names.length)
    await untilEvaluated()
    const expected = names.map((name) => [name, name.slice(-4) < 'net4' ? 2 : 1])
    expect(pages()).toEqual(Object.fromEntries(expected))

    await sql`update mismatch set snoozed_until = now() where snoozed_until is not null`.execute(books.db)
    await untilPaged(2 * names.length)
    await untilEvaluated()
    expect(pages()).toEqual(eachPaged(2))
  }, 300_000)

  test('another one goes out for a cause that comes long after one that is alike and still calls', async () => {
    const [first = '', ...others] = names
    for (const cause of plantedCauses.slice(0, 1)) await plant(books, cause, 'much later')
    await books.settle()
    await until('a third page', () => (pages()[first] === 3 ? true : null), 120_000)
    await untilEvaluated()
    expect(pages()).toEqual({ ...Object.fromEntries(others.map((name) => [name, 2])), [first]: 3 })
  }, 180_000)
})

/** Assigns the cases of the first half of the networks, and puts off the others beyond their time. */
async function takeAll({ db }: Books): Promise<void> {
  const cases = await db.selectFrom('mismatch').select(['id', 'network']).orderBy('id').execute()
  const half = Map.groupBy(cases, ({ network }) => network === null || network < 'net4')
  const idsOf = (isFirst: boolean) => (half.get(isFirst) ?? []).map(({ id }) => id)
  const later = new Date(Date.now() + 7 * 86_400_000)
  await inTransaction(db, async (tx) => {
    await workOnCases(tx, idsOf(true), { action: 'assigned', to: 'erin', actor: 'erin' })
    await workOnCases(tx, idsOf(false), { action: 'snoozed', until: later, actor: 'erin' })
  })
}

function eachPaged(times: number): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, times]))
}

async function take(
  request: IncomingMessage,
  response: ServerResponse,
  received: { path: string; body: string }[],
): Promise<void> {
  received.push({ path: request.url ?? '', body: await text(request) })
  response.writeHead(request.url === '/pager' ? 202 : 200).end('ok')
}

async function environmentOf({ url }: Books): Promise<Record<string, string>> {
  return {
    DATABASE_URL: url,
    SERVICE_URL: 'http://127.0.0.1:9',
    SERVICE_API_KEY: 'key',
    WEBHOOK_SECRETS: makeSecret(),
    RPC_BASE: 'http://127.0.0.1:9',
    DEPOSITD_CONFIG: 'settings.yaml',
    HTTP_HOST: loopback,
    HTTP_PORT: String(await freePort()),
    OPS_PORT: String(await freePort()),
    PUBLIC_URL: 'https://depositd.example',
    DASHBOARDS_URL: 'https://grafana.example',
    RUNBOOK_URL: 'https://docs.example/runbook.md',
  }
}

function urlOf(server: Server): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `http://${loopback}:${address.port}`
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0)
}
