import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { type Daemon, startDaemon } from '../../src/app/daemon.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { roles } from '../../src/health.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const stack = new AsyncDisposableStack()
let world: World
const folder = temporaryFolderOfFile()

beforeAll(async () => {
  world = await startWorld({ networks: ['base'] }, stack)
  await world.daemon.stop()
})
afterAll(() => stack.disposeAsync())

/** The daemon of the world, with this canary in its settings. */
async function startWith(canary: object): Promise<AsyncDisposable & { value: Daemon }> {
  const path = join(folder, 'settings.yaml')
  const file = parse(readFileSync(world.environment.DEPOSITD_CONFIG ?? '', 'utf8')) as object
  await writeFile(path, stringify({ ...file, canary }))
  const settings = parseSettings({ ...world.environment, DEPOSITD_CONFIG: path }, (name) =>
    readFileSync(name, 'utf8'),
  )
  const value = await startDaemon(settings, { roles, version: 'test', log: pino({ level: 'silent' }) })
  return { value, [Symbol.asyncDispose]: () => value.stop() }
}

async function metricsOf({ opsUrl }: Daemon): Promise<(series: string) => number | null> {
  const page = await (await fetch(`${opsUrl}/metrics`)).text()
  return (series) => {
    const line = page.split('\n').find((one) => one.startsWith(`depositd_${series} `))
    return line === undefined ? null : Number(line.split(' ').at(-1))
  }
}

test('a canary arrives through the webhook endpoint, and is no evidence', async () => {
  const url = `http://${loopback}:${world.environment.HTTP_PORT}/webhooks/transfers`
  await using daemon = await startWith({ url, every: '5s', timeout: '5s' })
  const metric = await until(
    'two canaries have arrived',
    async () => {
      const shown = await metricsOf(daemon.value)
      const isShown = shown('canary_webhook_age_seconds') !== null
      return isShown && (shown('canary_webhooks_total{outcome="received"}') ?? 0) > 1 ? shown : null
    },
    120_000,
  )
  expect(metric('canary_webhook_limit_seconds')).toBe(20)
  expect(metric('canary_webhook_age_seconds')).toBeLessThan(20)
  expect(metric('webhook_requests_total{service="default",outcome="canary"}')).toBeGreaterThan(1)
  expect(metric('webhook_requests_total{service="default",outcome="bad_signature"}')).toBe(0)
  const { rows } = await sql`
    select count(*) from inbox where body::text like '%' || encode('depositd.canary', 'hex') || '%'`.execute(
    world.db,
  )
  expect(rows).toEqual([{ count: 0n }])
})

test('the age of a lost canary passes the limit of the alert', async () => {
  const url = `http://${loopback}:${await freePort()}/webhooks/transfers`
  await sql`update canary set started_at = null`.execute(world.db)
  await using daemon = await startWith({ url, every: '5s', timeout: '1s' })
  const shown = await until(
    'the canary is older than its limit',
    async () => {
      const metric = await metricsOf(daemon.value)
      const [age, limit] = [metric('canary_webhook_age_seconds'), metric('canary_webhook_limit_seconds')]
      return age !== null && limit !== null && age > limit ? metric : null
    },
    60_000,
  )
  expect(shown('canary_webhooks_total{outcome="failed"}')).toBeGreaterThan(0)
  expect(shown('canary_webhooks_total{outcome="received"}')).toBe(0)
})
