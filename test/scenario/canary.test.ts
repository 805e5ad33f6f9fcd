import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { type Daemon, startDaemon } from '../../src/app/daemon.ts'
import { parseSettings, type Settings } from '../../src/config/settings.ts'
import type { Address } from '../../src/core/asset.ts'
import { roles } from '../../src/core/health.ts'
import { parseAmount } from '../../src/core/money.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const key = '7'.repeat(64)
const wallet = privateKeyToAddress(`0x${key}`)
const stack = new AsyncDisposableStack()
let world: World
let folder: string

/** Whatever a busy machine is late with is not overdue. */
const hour = '1h'
const policy = {
  webhookWithin: hour,
  apiWithin: hour,
  chainWithin: hour,
  reportWithin: hour,
  settlementWithin: hour,
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd-canary-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const [channel] = ['canary'].map((id) => ({
    id,
    forwardNetwork: 'base',
    forwardAsset: 'USDC',
    forwardRecipient: wallet,
  }))
  if (channel === undefined) throw new Error('no channel')
  world = await startWorld({ networks: ['base'], policy, channels: [channel] }, stack)
  const [network] = world.networks
  const asset = network?.assets.find(({ symbol }) => symbol === 'USDC')
  const native = network?.assets.find(({ symbol }) => symbol === 'ETH')
  if (!network || !asset || !native) throw new Error('no such network')
  const address = wallet.toLowerCase() as Address
  await network.fund(address, native.key, parseAmount('1', native.decimals))
  await network.fund(address, asset.key, parseAmount('10', asset.decimals))
  await writeFile(join(folder, 'canary.key'), key)
  await world.daemon.stop()
})
afterAll(() => stack.disposeAsync())

const deposit = {
  network: 'base',
  asset: 'USDC',
  amount: '0.25',
  owner: { kind: 'channel', id: 'canary' },
  every: '1h',
  within: '10m',
}

/** The daemon of the world, with these canaries in its settings. */
async function startWith(canary: object): Promise<Daemon> {
  const path = join(folder, 'settings.yaml')
  const file = parse(readFileSync(world.environment.DEPOSITD_CONFIG ?? '', 'utf8')) as object
  await writeFile(path, stringify({ ...file, canary }))
  const environment = { ...world.environment, DEPOSITD_CONFIG: path }
  const settings: Settings = parseSettings(environment, (name) => readFileSync(name, 'utf8'))
  return startDaemon(settings, { roles, version: 'test', log: pino({ level: 'silent' }) })
}

async function metricsOf({ opsUrl }: Daemon): Promise<(series: string) => number | null> {
  const page = await (await fetch(`${opsUrl}/metrics`)).text()
  return (series) => {
    const line = page.split('\n').find((one) => one.startsWith(`depositd_${series} `))
    return line === undefined ? null : Number(line.split(' ').at(-1))
  }
}

test('a webhook of our own and a payment of our own come through, and neither is a customer’s', async () => {
  const url = `http://${loopback}:${world.environment.HTTP_PORT}/webhooks/transfers`
  const webhooks = { url, every: '5s', timeout: '5s' }
  await using daemon = await running({ webhooks, deposits: [{ ...deposit, keyFile: 'canary.key' }] })
  const metric = await until(
    'both are well',
    async () => {
      const shown = await metricsOf(daemon.value)
      const isPaid = shown('canary_deposits_total{network="base",outcome="reconciled"}') === 1
      const isShown = shown('canary_webhook_age_seconds') !== null
      return isPaid && isShown && (shown('canary_webhooks_total{outcome="received"}') ?? 0) > 1 ? shown : null
    },
    120_000,
  )
  expect(metric('canary_webhook_limit_seconds')).toBe(20)
  expect(metric('canary_webhook_age_seconds')).toBeLessThan(20)
  expect(metric('canary_deposit_limit_seconds{network="base"}')).toBe(3600 + 600 + 60)
  expect(metric('canary_deposit_age_seconds{network="base"}')).toBeLessThan(60)
  expect(metric('canary_deposit_seconds_count{network="base"}')).toBe(1)
  expect(metric('webhook_requests_total{outcome="canary"}')).toBeGreaterThan(1)
  expect(metric('webhook_requests_total{outcome="bad_signature"}')).toBe(0)

  const reported = await sql<{ count: bigint }>`
    select count(*) from inbox where body::text like '%' || encode('depositd.canary', 'hex') || '%'`.execute(
    world.db,
  )
  expect(reported.rows).toEqual([{ count: 0n }])
  expect(await rowsOf(sql`select kind from mismatch`)).toEqual([])
  expect(await rowsOf(sql`select amount::text, state, is_canary from accounting.deposits`)).toEqual([
    { amount: '0.250000', state: 'reconciled', is_canary: true },
  ])
  const owed = sql`
    select account, balance::float8 as balance from accounting.balances
    where account !~ '^(assets|expenses|equity:conversion)' order by 1`
  expect(await rowsOf(owed)).toEqual([{ account: 'equity:canary:channel:canary', balance: -0.25 }])
  const transit = sql`
    select balance::float8 as balance from accounting.balances where account like 'assets:in_transit:%'`
  expect(await rowsOf(transit)).toEqual([{ balance: 0 }])
  expect(await rowsOf(sql`select count(*) from canary_deposit`)).toEqual([{ count: 1n }])
})

test('a webhook that comes to nobody is told, and grows old until the alert has reason', async () => {
  const url = `http://${loopback}:${await freePort()}/webhooks/transfers`
  await sql`update canary set started_at = null where name = 'webhook'`.execute(world.db)
  await using daemon = await running({ webhooks: { url, every: '5s', timeout: '1s' } })
  const shown = await until(
    'the webhook is older than it may be',
    async () => {
      const metric = await metricsOf(daemon.value)
      const [age, limit] = [metric('canary_webhook_age_seconds'), metric('canary_webhook_limit_seconds')]
      return age !== null && limit !== null && age > limit ? metric : null
    },
    60_000,
  )
  expect(shown('canary_webhooks_total{outcome="failed"}')).toBeGreaterThan(0)
  expect(shown('canary_webhooks_total{outcome="received"}')).toBe(0)
  expect(shown('canary_deposit_age_seconds{network="base"}')).toBeNull()
})

test('what somebody else pays is watched without any key', async () => {
  await using daemon = await running({ deposits: [deposit] })
  await world.pay({ network: 'base', symbol: 'USDC', owner: 'canary', amount: '0.3' })
  await until(
    'the payment is reconciled',
    async () => {
      const metric = await metricsOf(daemon.value)
      return metric('canary_deposits_total{network="base",outcome="reconciled"}') === 1 || null
    },
    120_000,
  )
})

async function rowsOf(statement: ReturnType<typeof sql>): Promise<unknown[]> {
  return (await statement.execute(world.db)).rows
}

async function running(canary: object): Promise<AsyncDisposable & { value: Daemon }> {
  const value = await startWith(canary)
  return { value, [Symbol.asyncDispose]: () => value.stop() }
}
