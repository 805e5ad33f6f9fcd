import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareQueueSchema } from '../../../src/jobs/queue/schema.ts'
import { probeScope } from '../../../src/provider/service-call.ts'
import { openDatabase } from '../../../src/store/database.ts'
import { readText } from '../../docs/pages.ts'
import { readKey, writeKey } from '../../service/fixtures.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { type DoctorWorld, type Finding, openDoctorWorld } from '../../support/doctor-world.ts'
import { startRawService } from '../../support/raw-service.ts'
import { seal } from '../../support/sealed-books.ts'
import { keyAuth } from '../../support/service-auth.ts'

const stack = new AsyncDisposableStack()
let books: Books
let world: DoctorWorld

beforeAll(async () => {
  books = stack.use(await openBooks())
  await seal(books)
  world = await openDoctorWorld(await asRunner(books.url), stack)
})
afterAll(() => stack.disposeAsync())

/** As the daemon should log in: a member of its role that owns nothing. */
async function asRunner(ownerUrl: string): Promise<string> {
  const owner = openDatabase({ url: ownerUrl, poolMax: 1, applicationName: 'test owner' })
  await prepareQueueSchema({ url: ownerUrl, name: 'depositd' })
  await sql`create role doctor_runner login password 'r' in role depositd_daemon`.execute(owner)
  stack.defer(async () => {
    await sql`drop role doctor_runner`.execute(owner)
    await owner.destroy()
  })
  const url = new URL(ownerUrl)
  url.username = 'doctor_runner'
  url.password = 'r'
  return url.href
}

const streams = ['scheduler', 'worker', 'poll', 'scan/base']

test('if all is well, every check is ok', async () => {
  await sql`select make_ledger_partitions()`.execute(books.db)
  await sql`insert into stream (name, succeeded_at) select unnest(${streams}::text[]), now()`.execute(
    books.db,
  )
  const { status, out, err } = await world.run()
  expect(err).toMatch(/^checking database, /)
  const { HTTP_PORT = '', OPS_PORT = '' } = world.environment
  const plain = out
    .replaceAll(/ +/g, ' ')
    .replaceAll(/ \n/g, '\n')
    .replace(/[\d.]+ s (ahead of|behind) /, '0.1 s ahead of ')
    .replace(/at \d{4}_\w+/, 'at 0026_last')
    .replaceAll(/last (tick|job|complete reading) \d+ s ago/g, 'last $1 0 s ago')
    .replace(HTTP_PORT, '8080')
    .replace(OPS_PORT, '9464')
  expect(plain).toMatchInlineSnapshot(`
    "CHECK STATE RESULT FIX
    settings ok complete and valid
    database ok Postgres 18, user doctor_runner
    clock ok the database's clock is 0.1 s ahead of this machine
    rights ok doctor_runner acts as depositd_daemon, and cannot change journals
    schema ok at 0026_last
    inbox ok nothing waits to be applied
    scheduler ok last tick 0 s ago
    worker ok last job 0 s ago
    poll ok last complete reading 0 s ago
    scan/base ok last complete reading 0 s ago
    grants ok the daemon may append to the books, and change nothing
    partitions ok this month and the next have partitions
    seals ok all rows are sealed
    policy ok becomes active with the first start
    queue ok 0 jobs waiting, 0 running
    service ok lists deposits: 0 on the first page
    key ok may read, not create
    chain base ok serves the chain and assets of the settings
    final base ok height 1; no block was read yet
    wallets ok 1 in the address book; no balance was read yet
    port http ok 127.0.0.1:8080 is free
    port ops ok 127.0.0.1:9464 is free
    webhooks ok verified by standard-webhooks
    connections ok all outbound connections use verified TLS
    links ok console: https://deposits.example, dashboards: https://grafana.example, runbook: https://docs.example/runbook.md
    secrets ok other users cannot read any file with a secret
    "
  `)
  expect(status).toBe(0)
})

test('docs/operations.md lists every check', async () => {
  const [, section = ''] = readText('docs/operations.md').split('\n## Doctor\n')
  const { out } = await world.run({}, ' --json')
  const checks = (JSON.parse(out) as { checks: Finding[] }).checks.map(({ check }) =>
    check.replace(/\bbase$/, 'NETWORK'),
  )
  expect(checks.length).toBeGreaterThan(15)
  expect(checks.filter((check) => !section.includes(`\`${check}\``))).toEqual([])
})

test('a key that may create is warned of, which is no bad news', async () => {
  const { status, out } = await world.run({ SERVICE_API_KEY: writeKey }, ' --json')
  const { checks: findings } = JSON.parse(out) as { checks: Finding[] }
  expect(findings.filter(({ state }) => state !== 'ok')).toEqual([
    {
      check: 'key',
      state: 'warning',
      says: 'may read and create',
      fix: expect.stringMatching(/^give the daemon a key of scope read/),
    },
  ])
  expect(status).toBe(0)
})

test.each<[string, Record<string, string>, RegExp]>([
  ['a key that is not known', { SERVICE_API_KEY: 'wrong' }, /^key +fault +SERVICE_API_KEY is refused/m],
  [
    'a secret that has ended',
    { WEBHOOK_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw not-after=2020-01-01T00:00:00Z' },
    /^webhooks +fault +WEBHOOK_SECRETS: every secret has ended/m,
  ],
  [
    'a setting that is missing',
    { SERVICE_URL: '' },
    /^settings +fault +SERVICE_URL is empty +correct the setting/m,
  ],
])('%s is a fault, and bad news', async (_what, changes, line) => {
  const { status, out } = await world.run(changes)
  expect(out).toMatch(line)
  expect(status).toBe(1)
})

test('webhooks that are not signed are warned of', async () => {
  const { WEBHOOK_SECRETS: _, ...rest } = world.environment
  const { out } = await runCommand('doctor', { ...rest, WEBHOOK_SCHEME: 'none' })
  expect(out).toMatch(/^webhooks +warning +not signed/m)
})

test('nothing is said of a key where the body is looked at first, and nothing is created', async () => {
  await using service = await startRawService((_request, response) => response.writeHead(400).end('no JSON'))
  expect(await probeScope({ url: service.url, auth: keyAuth('key'), timeoutMs: 5000 }, '/v1/channels')).toBe(
    'unknown',
  )
  expect(
    await probeScope(
      { url: world.environment.SERVICE_URL ?? '', auth: keyAuth(writeKey), timeoutMs: 5000 },
      '/v1/channels',
    ),
  ).toBe('write')
  const response = await fetch(`${world.environment.SERVICE_URL}/v1/channels`, {
    headers: { 'x-api-key': readKey },
  })
  expect(await response.json()).toMatchObject({ data: [] })
})

test('secrets that all end soon are warned of, before webhooks are refused', async () => {
  const soon = new Date(Date.now() + 3 * 86_400_000).toISOString()
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  expect(await world.says('webhooks', { WEBHOOK_SECRETS: `${secret} not-after=${soon}` })).toEqual([
    `warning | the last secret expires at ${soon} | add the new secret first in WEBHOOK_SECRETS before the old one expires`,
  ])
  const two = `whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD,${secret} not-after=${soon}`
  expect(await world.says('webhooks', { WEBHOOK_SECRETS: two })).toEqual([
    'ok | verified by standard-webhooks',
  ])
})

test('of a scheme that signs the URL the address to be registered is named', async () => {
  expect(await world.says('webhooks', { WEBHOOK_SCHEME: 'square' })).toEqual([
    'ok | verified by square, sent to https://deposits.example/webhooks/transfers',
  ])
})

test('every problem has a fix', async () => {
  const { status, out, err } = await world.run(
    {
      DATABASE_URL: 'postgres://x:hunter2@127.0.0.1:1/x',
      QUEUE_URL: 'redis://127.0.0.1:1',
      SERVICE_URL: 'http://127.0.0.1:1',
      RPC_BASE: 'http://127.0.0.1:1',
      WEBHOOK_SECRETS: 'hunter2',
      HTTP_HOST: '192.0.2.1',
    },
    ' --json',
  )
  const { checks: findings } = JSON.parse(out) as { checks: Finding[] }
  const faults = findings.filter(({ state }) => state !== 'ok')
  expect(faults.map(({ check }) => check).toSorted()).toEqual([
    'chain base',
    'database',
    'history',
    'key',
    'port http',
    'queue',
    'service',
    'wallets',
    'webhooks',
  ])
  expect(faults.filter(({ fix }) => fix.length < 15)).toEqual([])
  expect(faults.map(({ says }) => says).join()).toContain('WEBHOOK_SECRETS: secret 1 must be whsec_')
  expect(out + err).not.toContain('hunter2')
  expect(status).toBe(1)
})
