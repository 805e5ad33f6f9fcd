import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiProblem, createApiClient } from '../../src/api/client.ts'
import { readRoutes } from '../../src/api/routes.ts'
import { callOf } from '../../src/api/server.ts'
import { verifyBundle } from '../../src/evidence/verify-bundle.ts'
import type { Books } from '../support/books.ts'
import { at, claim, payment, txId, webhook } from '../support/evidence.ts'
import { makeBundleOfTwo } from '../support/evidence-bundle.ts'
import { openEvidenceWorld } from '../support/evidence-world.ts'
import { temporaryFolder } from '../support/folder.ts'
import { addPeople } from '../support/people.ts'
import { openReadBooks, type ReadClient, serveReadApi } from '../support/read-api.ts'
import { shell } from '../support/shell.ts'

const stack = new AsyncDisposableStack()
let books: Books
let api: ReadClient

beforeAll(async () => {
  books = stack.use(await openReadBooks())
  await addPeople(books.owner)
  api = await serveReadApi(books, stack)
})
afterAll(() => stack.disposeAsync())

type Sent = { call: string; key: string | null; status: number }

/** A client whose calls are listed. `answers` are given instead of those of the server, one for each call. */
async function open(answers: Response[] = [], { url, token }: Pick<ReadClient, 'url' | 'token'> = api) {
  const sent: Sent[] = []
  const listed = async (called: string, init: RequestInit) => {
    const response = answers.shift() ?? (await fetch(called, init))
    const path = new URL(called).pathname.replace(/\/(\d+|shop)(?=\/|$)/, '/{id}')
    const key = new Headers(init.headers).get('idempotency-key')
    sent.push({ call: `${init.method} ${path}`, key, status: response.status })
    return response
  }
  return { client: createApiClient({ url: `${url}/`, token: await token(), fetch: listed }), sent }
}

const later = () => new Response('', { status: 503, headers: { 'retry-after': '0' } })

const refusalOf = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => error,
  )

const withoutTime = (answer: object) => ({ ...answer, as_of: null })

test('the client has every call, and answers with what the server says', async () => {
  const { client, sent } = await open()
  const answers = [
    ['/v1/deposits?owner=savings&limit=1', await client.deposits.page({ owner: 'savings', limit: 1 })],
    ['/v1/deposits/1', await client.deposits.get('1')],
    ['/v1/mismatches?status=all', await client.mismatches.page({ status: 'all', kind: undefined })],
    ['/v1/mismatches/1', await client.mismatches.get('1')],
    [
      '/v1/owners/shop/statement?until=2026-02-01T00:00:00Z',
      await client.statement('shop').page({ until: '2026-02-01T00:00:00Z' }),
    ],
    ['/v1/events?after=1&limit=2', await client.events.page({ after: '1', limit: 2 })],
    ['/v1/journals/1', await client.journals.get('1')],
    ['/v1/balances', await client.balances.page()],
    ['/v1/trial-balance?period=2026-01', await client.trialBalance.page({ period: '2026-01' })],
    ['/v1/services', await client.services()],
    ['/v1/networks', await client.networks()],
    ['/v1/health', await client.health()],
    ['/v1/openapi.json', await client.description()],
  ] as const
  for (const [path, answer] of answers)
    expect(withoutTime(answer), path).toEqual(withoutTime((await api.get(path)).body))
  expect(await client.mismatches.comment('1', { text: 'seen' })).toMatchObject({ action: 'commented' })
  expect(await client.mismatches.assign('1', { to: 'erin' })).toMatchObject({ action: 'assigned' })
  expect(await client.mismatches.snooze('1', { until: null })).toMatchObject({ action: 'snoozed' })
  const refusals = [
    await refusalOf(client.mismatches.resolve('1', { reason: 'paid' })),
    await refusalOf(client.deposits.evidence('1')),
    await refusalOf(client.journals.proof('1')),
  ]
  expect(refusals).toMatchObject([
    { code: 'signature_needed' },
    { code: 'evidence_unavailable', status: 409 },
    { code: 'proof_pending' },
  ])
  const sequences: string[] = []
  for await (const { sequence } of client.events.follow({ limit: 2 }, AbortSignal.timeout(60_000))) {
    sequences.push(sequence)
    if (sequences.length === 5) break
  }
  expect(sequences).toEqual(['1', '2', '3', '4', '5'])
  expect(new Set(sent.map(({ call }) => call))).toEqual(new Set(readRoutes.map(callOf)))
})

test('lists are read page after page', async () => {
  const { client, sent } = await open()
  const ids: string[] = []
  for await (const { id } of client.deposits.all({ limit: 3 })) ids.push(id)
  expect(ids).toEqual(['10', '9', '8', '7', '6', '5', '4', '3', '2', '1'])
  expect(sent).toHaveLength(4)
  const lines: string[] = []
  for await (const { line } of client.statement('channel:shop').all({ limit: 1 })) lines.push(line)
  expect(lines).toEqual(expect.arrayContaining(['opening', 'closing']))
})

test('an evidence bundle is the file that verifies', { timeout: 60_000 }, async () => {
  await using world = await openEvidenceWorld()
  expect((await makeBundleOfTwo(world)).made.status).toBe(0)
  await using within = new AsyncDisposableStack()
  const own = await serveReadApi(world.books, within, { environment: world.environment })
  const { client } = await open([], own)
  const { checks } = verifyBundle(await client.deposits.evidence('1'))
  expect(checks.filter(({ outcome }) => outcome === 'failed')).toEqual([])
})

describe('a checkout', () => {
  const paid = { tx: txId('checkout'), blockAt: at(700), receivedAt: at(702) }

  test('waits until the owner may be credited', { timeout: 60_000 }, async () => {
    await books.receive(payment(paid))
    await books.settle()
    const { client } = await open()
    const [deposit] = (await client.deposits.page({ tx: paid.tx })).data
    const waiting = client.deposits.until(deposit?.id ?? '', { credit: 'safe' }, AbortSignal.timeout(50_000))
    const stated = {
      serviceId: 'dep_checkout' as never,
      status: 'confirmed',
      deposit: { tx: paid.tx },
    } as const
    await books.receive(
      webhook({ ...stated, receivedAt: at(703) }),
      claim({ ...stated, receivedAt: at(704) }),
    )
    await books.settle()
    expect(await waiting).toMatchObject({ credit: { safe: true }, service_id: 'dep_checkout' })
    const ended = client.deposits.until(deposit?.id ?? '', { state: 'ignored' }, AbortSignal.timeout(200))
    expect(await refusalOf(ended)).toMatchObject({ name: 'TimeoutError' })
  })
})

describe('a refusal', () => {
  test('is a problem with its code and its fields', async () => {
    const { client } = await open()
    const problem = await refusalOf(client.deposits.page({ since: 'yesterday' }))
    expect(problem).toBeInstanceOf(ApiProblem)
    expect(problem).toMatchObject({ status: 400, code: 'request_invalid', errors: [{ parameter: 'since' }] })
    const proxied = await open([new Response('<h1>Bad gateway</h1>', { status: 502 })])
    expect(await refusalOf(proxied.client.health())).toMatchObject({ status: 502, code: 'unknown' })
  })

  test('by the rate limit is waited for, and ends after some retries', { timeout: 30_000 }, async () => {
    const limited = await serveReadApi(books, stack, { limit: { perSecond: 1, burst: 1 } })
    const { client, sent } = await open([], limited)
    await client.services()
    await client.services()
    expect(sent.map(({ status }) => status)).toEqual([200, 429, 200])
    const once = createApiClient({ url: limited.url, token: await limited.token(), retriesMax: 0 })
    await once.services()
    expect(await refusalOf(once.services())).toMatchObject({ code: 'rate_limited', status: 429 })
  })

  test('with 503 is repeated with the same key, if the answer says when', async () => {
    const { client, sent } = await open([later(), later()])
    await client.mismatches.comment('1', { text: 'once' })
    await client.mismatches.comment('1', { text: 'twice' })
    expect(sent.map(({ status }) => status)).toEqual([503, 503, 201, 201])
    const keys = sent.map(({ key }) => key)
    expect([new Set(keys.slice(0, 3)).size, keys[3] !== keys[0]]).toEqual([1, true])
    const given = await open([later(), later(), later(), later()])
    expect(await refusalOf(given.client.health())).toMatchObject({ status: 503 })
    const silent = await open([new Response('', { status: 503 })])
    expect(await refusalOf(silent.client.health())).toMatchObject({ status: 503 })
    expect([given.sent.length, silent.sent.length]).toEqual([4, 1])
  })
})

test('another project imports it from the checkout', { timeout: 60_000 }, async () => {
  const folder = await temporaryFolder()
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(join(import.meta.dirname, '../..'), join(folder, 'node_modules/depositd'))
  writeFileSync(
    join(folder, 'main.ts'),
    `import { createApiClient } from 'depositd/client'
const client = createApiClient({ url: process.env.API ?? '', token: process.env.TOKEN ?? '' })
for await (const { id } of client.deposits.all({ owner: 'savings' })) console.log(id)
`,
  )
  const environment = { API: api.url, TOKEN: await api.token(), NODE: process.execPath }
  expect(await shell('"$NODE" main.ts', { folder, environment })).toMatchObject({ status: 0, out: '9\n4\n' })
})
