import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readRoutes } from '../../src/api/routes.ts'
import type { Books } from '../support/books.ts'
import { channelAddress, txId, walletAddress } from '../support/evidence.ts'
import { openReadBooks, type ReadAnswer, type ReadClient, serveReadApi } from '../support/read-api.ts'
import { acmeAddress } from '../support/two-services.ts'

const stack = new AsyncDisposableStack()
let books: Books
let api: ReadClient

beforeAll(async () => {
  books = stack.use(await openReadBooks())
  api = await serveReadApi(books, stack)
  await sql`
    update mismatch set detail = detail || '{"stated": "channel/shop", "approved": "stable_wallet/savings"}'
    where deposit_id in (4, 9)`.execute(books.owner)
  // As if one delivery were for both.
  await sql`
    with shared as (update deposit set group_id = (select group_id from deposit where id = 8) where id = 9)
    update evidence set group_id = (select group_id from deposit where id = 8)
    where group_id = (select group_id from deposit where id = 9)`.execute(books.owner)
})
afterAll(() => stack.disposeAsync())

const ids = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11']
const owners = ['shop', 'savings', 'acme/shop', 'channel:shop', 'channel:acme/shop', 'unknown']
const others = [
  'shop',
  channelAddress,
  acmeAddress,
  'dep_1',
  'dep_3',
  'dep_two',
  txId('pay1'),
  txId('pays acme'),
]

const bodies: Readonly<Record<string, object>> = {
  comments: { text: 'seen' },
  assign: { to: null },
  snooze: { until: null },
  resolve: { reason: 'seen' },
}

function call(path: string, token: string): Promise<ReadAnswer> {
  const body = bodies[path.split('/').at(-1) ?? '']
  return body === undefined ? api.get(path, token) : api.post(path, body, { token })
}

/** Every call, about every deposit, mismatch and owner. */
function everyCall(): string[] {
  const single = readRoutes.flatMap(({ path }) => {
    const named = path.includes('/owners/') ? owners : ids
    return path.includes('{id}') ? named.map((id) => path.replace('{id}', encodeURIComponent(id))) : [path]
  })
  const filters = [
    ...owners.map((owner) => `owner=${encodeURIComponent(owner)}`),
    'service=acme',
    'state=ignored',
  ]
  const about = [
    ...others.slice(1).map((word) => `tx=${word}`),
    `address=${channelAddress}`,
    'service_id=dep_1',
  ]
  return [
    ...single,
    ...[...filters, ...about].map((query) => `/v1/deposits?${query}`),
    ...ids.map((id) => `/v1/mismatches?status=all&deposit=${id}`),
    '/v1/mismatches?status=all',
    '/v1/mismatches?status=all&service=acme',
  ].filter((path) => path !== '/v1/openapi.json')
}

test('a token that is limited to an owner sees nothing of others, in any call', {
  timeout: 120_000,
}, async () => {
  const token = await api.token({ owners: ['savings'] })
  const answers: (ReadAnswer & { path: string })[] = []
  for (const path of everyCall()) answers.push({ path, ...(await call(path, token)) })
  const seen = answers.filter(({ status }) => status < 300)
  const told = seen.filter(({ text }) => others.some((word) => text.includes(word)))
  expect(told.map(({ path, text }) => [path, text])).toEqual([])
  expect(seen.map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      '/v1/deposits/4',
      '/v1/deposits/9',
      '/v1/owners/savings/statement',
      '/v1/health',
      '/v1/events',
      expect.stringMatching(/^\/v1\/mismatches\/\d+\/comments$/),
    ]),
  )
  expect(seen.some(({ text }) => text.includes(walletAddress))).toBe(true)
  const linked = seen.flatMap(({ text }) => text.match(/\/v1\/deposits\/\d+|"deposit_id":"\d+"/g) ?? [])
  expect(
    [...new Set(linked.map((link) => /\d+"?$/.exec(link)?.[0].replace('"', '') ?? ''))].toSorted(),
  ).toEqual(['4', '9'])
  const refused = answers.filter(({ status }) => status >= 300)
  expect(refused.filter(({ text }) => /0x[0-9a-f]{40}|dep_\d|liabilities/.test(text))).toEqual([])
  expect(refused.map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      '/v1/deposits/1',
      '/v1/owners/shop/statement',
      '/v1/balances',
      '/v1/trial-balance',
      '/v1/journals/1',
      '/v1/journals/1/proof',
    ]),
  )
})

test('it sees its own deposits, without what mismatches say and without shared evidence', async () => {
  const token = await api.token({ owners: ['savings'] })
  const own = (await api.get('/v1/deposits/4', token)).body
  const [withAll, shared] = [await api.get('/v1/deposits/9'), await api.get('/v1/deposits/9', token)]
  expect(own).toMatchObject({ timeline_complete: true, owner: { id: 'savings' } })
  expect(own.timeline.length).toBeGreaterThan(0)
  expect(withAll.body.timeline.length).toBeGreaterThan(0)
  expect(shared.body).toMatchObject({ timeline: [], timeline_complete: false })
  expect(shared.body.mismatches).toMatchObject([
    { kind: 'unreported', says: null, detail: null, amounts: null, subject: null },
  ])
  const evidence = await api.get('/v1/deposits/9/evidence', token)
  expect(evidence.body).toMatchObject({ status: 403, code: 'token_limited' })
  const { body } = await api.get(shared.body.mismatches[0].links.self, token)
  expect([body.history, body.says, body.next]).toEqual([null, null, expect.any(String)])
})

test('it sees no journal that names the account of another owner', async () => {
  const token = await api.token({ owners: ['savings'] })
  const journals = async (as?: string) => (await api.get('/v1/deposits/4', as)).body.journals
  const [all, seen] = [await journals(), await journals(token)]
  expect(seen).toEqual(all)
  const own = await api.token({ owners: ['savings', 'shop'] })
  const replaced = 'liabilities:deposits:channel:shop'
  await sql`set session_replication_role = replica`.execute(books.owner)
  await sql`
    update ledger_transfer set credit = ${replaced}
    where journal_id = ${all[0].id}::bigint and credit = 'liabilities:deposits:stable_wallet:savings'`.execute(
    books.owner,
  )
  expect(await journals(own)).toEqual(await journals())
  expect(JSON.stringify(await journals())).toContain(replaced)
  expect(await journals(token)).toEqual(seen.slice(1))
})

test('a token that is limited to a service sees nothing of others', async () => {
  const token = await api.token({ services: ['acme'] })
  const { body } = await api.get('/v1/deposits', token)
  expect(body.data).toMatchObject([{ id: '10', service: 'acme' }])
  expect((await api.get('/v1/deposits/1', token)).status).toBe(404)
  const mismatches = (await api.get('/v1/mismatches?status=all', token)).body.data
  expect(mismatches).toMatchObject([{ service: 'acme', says: expect.any(String) }])
  expect((await api.get('/v1/owners/shop/statement', token)).status).toBe(404)
  expect((await api.get('/v1/owners/channel:acme%2Fshop/statement', token)).status).toBe(200)
  expect((await api.get('/v1/services', token)).body.data).toEqual([])
  expect((await api.get('/v1/balances', token)).body.code).toBe('token_limited')
})
