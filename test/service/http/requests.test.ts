import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApiKey, makeApiKey, revokeApiKey } from '../../../src/service/api-keys.ts'
import { routes } from '../../../src/service/http/server.ts'
import { call, readKey, send, writeKey } from '../fixtures.ts'
import { type OpenApi, openApi } from './open-api.ts'

let api: OpenApi

beforeAll(async () => {
  api = await openApi()
})

afterAll(() => api.close())

const channels = (): string => `${api.url}/v1/channels`
const wallets = (): string => `${api.url}/v1/stable-wallets`
const deposits = (): string => `${api.url}/v1/proxies/deposits`

const recipient = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

const base = { id: 'x', forward_network: 'base', forward_asset: 'USDC', forward_recipient: recipient }

test.each([
  [
    'in another character set',
    { 'content-type': 'application/json; charset=utf-16' },
    415,
    'content_type_unsupported',
  ],
  ['in a patched type', { 'content-type': 'application/json-patch+json' }, 415, 'content_type_unsupported'],
  ['compressed', { 'content-encoding': 'gzip' }, 415, 'content_type_unsupported'],
  ['in UTF-8 by name', { 'content-type': 'application/json; charset="UTF-8"' }, 201, undefined],
])('a body %s is taken or refused', async (...[, headers, status, code]) => {
  const body = { ...base, id: 'typed' }
  const answer = await send('POST', channels(), { key: writeKey, body, headers })
  expect([answer.status, answer.body['code']]).toEqual([status, code])
})

const orders = routes.filter(({ method, body }) => method === 'post' && body?.safeParse({}).success === true)

/** None of the ids exists: what is looked for says that the body was taken. */
const pathOf = (path: string) => `${api.url}${path.replaceAll(/\{\w+\}/g, 'none')}`

test('the calls whose bodies have no required field are these', () => {
  expect(orders.map(({ path }) => path)).toEqual([
    '/v1/proxies/deposits/{id}/release',
    '/v1/proxies/deposits/{id}/refund',
    '/v1/webhook-endpoints/{id}/disable',
    '/v1/webhook-endpoints/{id}/enable',
    '/v1/webhook-endpoints/{id}/rotate-secret',
    '/v1/webhook-endpoints/{id}/test',
    '/v1/events/{id}/resend',
  ])
})

test.each(orders.map(({ path }) => path))('%s takes no body or {}, and no unknown field', async (path) => {
  const bodies = [undefined, '{}', '{"reason":"x"}']
  const answers = await Promise.all(bodies.map((body) => send('POST', pathOf(path), { key: writeKey, body })))
  const [absent, empty, unknown] = answers
  expect(absent).toMatchObject({ status: 404, body: { code: 'not_found' } })
  expect(empty).toEqual(absent)
  expect(unknown).toMatchObject({
    status: 400,
    body: {
      code: 'request_invalid',
      errors: [{ pointer: '/reason', detail: 'is not a field of this request' }],
    },
  })
})

test('bytes that are no UTF-8 are refused', async () => {
  const headers = { 'X-API-KEY': writeKey, 'content-type': 'application/json' }
  const body = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])
  const answer = await fetch(channels(), { method: 'POST', headers, body })
  expect(await answer.json()).toMatchObject({ status: 400, code: 'body_malformed' })
})

test('what fails inside is told without its cause, and neither the log nor the answer holds a key', async () => {
  const lines: string[] = []
  const broken = await openApi({}, pino({ level: 'trace' }, { write: (line) => lines.push(line) }))
  await broken.db.destroy()
  const answer = await call(`${broken.url}/v1/proxies/deposits`, readKey)
  expect(answer).toMatchObject({ status: 500, body: { code: 'internal' } })
  expect(lines.join()).toContain('request to the deposit service failed')
  expect(`${lines.join()}${JSON.stringify(answer)}`).not.toContain(readKey.slice(-20))
  await broken.close()
})

test('HEAD is answered as GET, without its body', async () => {
  const response = await fetch(deposits(), { method: 'HEAD', headers: { 'X-API-KEY': readKey } })
  expect([response.status, await response.text()]).toEqual([200, ''])
})

test('an oversize body is refused with 413, another type of body with 415', async () => {
  const oversize = await call(channels(), writeKey, { ...base, id: 'a'.repeat(20_000) })
  expect([oversize.status, oversize.body['code']]).toEqual([413, 'body_too_large'])
  const response = await fetch(channels(), {
    method: 'POST',
    headers: { 'X-API-KEY': writeKey },
    body: 'id=x',
  })
  expect([response.status, await response.json()]).toMatchObject([415, { code: 'content_type_unsupported' }])
})

test.each([
  ['without a key', null, 401, 'key_missing'],
  ['with a key of another form', 'somebody-elses-key', 401, 'key_unknown'],
  ['with an unknown key', makeApiKey(), 401, 'key_unknown'],
  ['with the read scope', readKey, 403, 'scope_insufficient'],
] as const)('creating %s is refused', async (...[, key, status, code]) => {
  for (const url of [channels(), wallets()]) {
    expect(await call(url, key, base)).toMatchObject({ status, body: { code } })
  }
})

test('a 401 names the way in, and no answer may be kept by a cache', async () => {
  const [without, withKey] = await Promise.all([
    fetch(deposits()),
    fetch(deposits(), { headers: { 'X-API-KEY': readKey } }),
  ])
  expect(without.headers.get('www-authenticate')).toBe('ApiKey header="X-API-KEY"')
  expect(withKey.headers.get('cache-control')).toBe('no-store')
})

test('reading takes either scope, and no less', async () => {
  const statuses = await Promise.all([readKey, writeKey, 'x', null].map((key) => call(deposits(), key)))
  expect(statuses.map(({ status }) => status)).toEqual([200, 200, 401, 401])
  expect(statuses[0]?.body).toEqual({ data: [], next_cursor: null })
})

test('a key that is created may call at once, and no more from its revocation on', async () => {
  const { id, key } = await createApiKey(api.db, { name: 'for a while', scope: 'read' })
  expect(await call(deposits(), key)).toMatchObject({ status: 200 })
  await revokeApiKey(api.db, id)
  expect(await call(deposits(), key)).toMatchObject({ status: 401, body: { code: 'key_unknown' } })
})

test('the document of the API is served to everybody', async () => {
  const { status, type, body } = await call(`${api.url}/openapi.json`, null)
  expect([status, type, body['openapi']]).toEqual([200, 'application/json; charset=utf-8', '3.1.1'])
})

test('unknown paths and methods are problems too, for those who may call', async () => {
  expect(await call(`${api.url}/v1/nothing`, readKey)).toMatchObject({
    status: 404,
    body: { code: 'not_found' },
  })
  expect(await send('DELETE', channels(), { key: readKey })).toMatchObject({
    status: 405,
    body: { code: 'method_not_allowed', detail: expect.stringContaining('POST, GET') },
  })
  expect(await call(`${api.url}/v1/nothing`, null)).toMatchObject({ status: 401 })
})

test.each([
  'limit=0',
  'limit=501',
  'limit=ten',
  'limit=1&limit=2',
  'status=lost',
  'updated_since=yesterday',
  'page=2',
])('the query %s is refused', async (query) => {
  expect(await call(`${deposits()}?${query}`, readKey)).toMatchObject({
    status: 400,
    body: { code: 'request_invalid' },
  })
})

test('a made-up cursor is refused', async () => {
  const answer = await call(`${deposits()}?cursor=abc`, readKey)
  expect(answer).toMatchObject({ status: 400, body: { code: 'cursor_invalid' } })
})
