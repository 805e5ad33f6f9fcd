import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { type Daemon, startDaemon } from '../../src/app/daemon.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { roles } from '../../src/health.ts'
import { freePort } from '../../src/sandbox/free-port.ts'
import { showDeposits } from '../../src/store/books/show-deposits.ts'
import { allReconciled } from '../support/all-reconciled.ts'
import { runCommand } from '../support/command.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { patientPolicy } from '../support/patient-policy.ts'
import { type OtherService, startOtherService } from '../support/translating-proxy.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

/**
 * A service whose signing, payloads and pages nobody described: what the daemon needs to know of it is found by its
 * own commands, from what the service sends.
 */

const withinMs = 120_000
const folder = temporaryFolderOfFile()
const stack = new AsyncDisposableStack()
const secret = randomBytes(32).toString('base64')
const secretFile = file('secret', secret)

let world: World
let service: OtherService
let daemon: Daemon
let environment: Record<string, string>
let first: string[]

const payments = [
  { network: 'base', symbol: 'USDC', owner: 'shop', amount: '10.25' },
  { network: 'solana', symbol: 'USDC', owner: 'payroll', amount: '12.5' },
  { network: 'base', symbol: 'ETH', owner: 'savings', amount: '0.010000000000000001' },
  { network: 'solana', symbol: 'SOL', owner: 'savings', amount: '0.5' },
]

beforeAll(async () => {
  world = await startWorld({ networks: ['base', 'solana'], policy: patientPolicy }, stack)
  await world.daemon.stop()
  service = await startOtherService({
    serviceUrl: world.service.url,
    webhookPort: world.settings.http.port,
    secret,
  })
  stack.defer(() => service[Symbol.asyncDispose]())
  // No scheme is known yet: under one that needs no more than a secret, everything goes to the quarantine.
  environment = {
    ...world.environment,
    SERVICE_URL: service.url,
    WEBHOOK_SCHEME: 'github',
    WEBHOOK_SECRETS: secret,
    HTTP_PORT: String(await freePort()),
  }
  daemon = await start()
  stack.defer(() => daemon.stop())
  first = await Promise.all(payments.map((payment) => world.pay(payment)))
  await until('the quarantine holds the whole life of each deposit', allReported, withinMs)
}, withinMs + 60_000)
afterAll(() => stack.disposeAsync())

function file(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

async function start(): Promise<Daemon> {
  const settings = parseSettings(environment, (path) => readFileSync(path, 'utf8'))
  const started = await startDaemon(settings, { roles, version: 'test', log: pino({ level: 'silent' }) })
  service.sendTo(started.webhookUrl ?? '')
  return started
}

async function allReported(): Promise<true | null> {
  const { rows } = await sql<{ ended: number }>`
    select count(distinct convert_from(body, 'UTF8')::jsonb #>> '{payload,transfer,reference}')::int as ended
    from quarantine where convert_from(body, 'UTF8') ~ '"phase":"(DONE|BOOKED)"'`.execute(world.db)
  return rows[0]?.ended === payments.length || null
}

async function command(line: string): Promise<string> {
  const { status, out, err } = await runCommand(line, environment)
  if (status !== 0) throw new Error(`${line} ended with ${status}: ${err}${out}`)
  return out
}

test(
  'from its captured webhooks and one answer of its API, settings are made by which all is taken in and reconciles',
  async () => {
    const section = parse(await command(`webhooks detect --secret-file ${secretFile}`)) as object
    expect(section).toEqual({
      webhooks: {
        scheme: 'hmac',
        header: 'x-acme-proof',
        prefix: 'sha512=',
        algorithm: 'sha512',
        key: 'base64',
        template: '{id}.{timestamp}.{body}',
        id: { header: 'x-acme-delivery' },
        timestamp: { header: 'x-acme-time', unit: 'ms' },
      },
    })

    const key = { 'x-api-key': environment.SERVICE_API_KEY ?? '' }
    const answer = await fetch(`${service.url}/v1/proxies/deposits`, { headers: key })
    const page = file('page.json', await answer.text())
    file('acme.yaml', await command(`webhooks profile --from quarantine --records ${page}`))

    const known = parse(readFileSync(environment.DEPOSITD_CONFIG ?? '', 'utf8')) as { service: object }
    const settings = { ...known, ...section, service: { ...known.service, profile: './acme.yaml' } }
    const { WEBHOOK_SCHEME: _, ...others } = environment
    environment = { ...others, DEPOSITD_CONFIG: file('depositd.yaml', stringify(settings)) }
    await daemon.stop()
    daemon = await start()
    await command('webhooks quarantine retry --json')
    expect(JSON.parse(await command('webhooks quarantine list --json'))).toEqual({ items: [], next: null })

    const second = await Promise.all(payments.map((payment) => world.pay(payment)))
    const all = [...first, ...second]
    await until('every deposit is reconciled', () => allReconciled(world, all), withinMs)
    const shown = (await Promise.all(all.map((tx) => showDeposits(world.db, tx)))).flat()
    expect(shown).toHaveLength(all.length)
    const agrees = { webhook: 'agrees', api: 'agrees', chain: 'agrees' }
    for (const { matrix, deposit, mismatches } of shown) {
      const isCredited = deposit.owner_kind === 'stable_wallet'
      expect({ matrix, mismatches }).toEqual({
        matrix: { deposit: agrees, settlement: isCredited ? { ...agrees, chain: 'not_applicable' } : agrees },
        mismatches: [],
      })
    }
  },
  2 * withinMs,
)

test('the books hold what was paid, to the last digit of a JSON number', async () => {
  const owed = await sql<{ account: string; balance: string }>`
    select account, sum(amount)::text as balance from accounting.entries
    where kind = 'deposit' and account like 'liabilities:deposits:%' group by account, asset order by 1, 2`.execute(
    world.db,
  )
  expect(owed.rows).toEqual([
    { account: 'liabilities:deposits:channel:payroll', balance: '-25.000000' },
    { account: 'liabilities:deposits:channel:shop', balance: '-20.500000' },
    { account: 'liabilities:deposits:stable_wallet:savings', balance: '-0.020000000000000002' },
    { account: 'liabilities:deposits:stable_wallet:savings', balance: '-1.000000000' },
  ])
})
