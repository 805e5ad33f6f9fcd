import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApiKey, makeApiKey, revokeApiKey } from '../../../src/service/api-keys.ts'
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

test('a channel has one deposit address per network, one hexadecimal address for the EVM networks', async () => {
  const wanted = { id: 'shop', forward_network: 'base', forward_asset: 'USDC', forward_recipient: recipient }
  const { status, body } = await call(channels(), writeKey, wanted)
  expect(status).toBe(201)
  expect(Object.keys(body)).toEqual([
    'id',
    'addresses',
    'forward_network',
    'forward_asset_symbol',
    'forward_recipient',
  ])
  expect(body).toMatchObject({
    id: 'shop',
    forward_network: 'base',
    forward_asset_symbol: 'USDC',
    forward_recipient: recipient,
  })
  const addresses = body['addresses'] as { network: string; address: string }[]
  expect(addresses.map(({ network }) => network)).toEqual(['mainnet', 'base', 'arbitrum', 'solana'])
  expect(new Set(addresses.slice(0, 3).map(({ address }) => address)).size).toBe(1)
  expect(addresses[0]?.address).toMatch(/^0x(?=.*[A-F])(?=.*[a-f])[0-9a-fA-F]{40}$/)
  expect(addresses[3]?.address).toMatch(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/)
})

test('both spellings of the asset and of the destination mean the same channel', async () => {
  const network = { id: 'spelt', forward_network: 'base' }
  const one = await call(channels(), writeKey, {
    ...network,
    forward_asset: 'USDC',
    forward_recipient: recipient,
  })
  const other = await call(channels(), writeKey, {
    ...network,
    forward_token: 'USDC',
    forward_address: recipient.toLowerCase(),
  })
  const both = await call(channels(), writeKey, {
    ...network,
    forward_token: 'USDC',
    forward_asset: 'USDC',
    forward_address: recipient,
  })
  expect(other).toEqual(one)
  expect(both).toEqual(one)
})

test('the same id with another rule is a conflict', async () => {
  const wanted = { id: 'taken', forward_network: 'base', forward_asset: 'USDC', forward_recipient: recipient }
  await call(channels(), writeKey, wanted)
  const { status, body } = await call(channels(), writeKey, { ...wanted, forward_network: 'mainnet' })
  expect([status, body['code']]).toEqual([409, 'id_conflict'])
})

test('of twenty racing requests for one id all get the same addresses', async () => {
  const wanted = {
    id: 'race',
    forward_network: 'solana',
    forward_asset: 'SOL',
    forward_recipient: validSolana,
  }
  const answers = await Promise.all(Array.from({ length: 20 }, () => call(channels(), writeKey, wanted)))
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  expect(answers[0]?.status).toBe(201)
})

test('of twenty who keep a new owner at once all get the same one', async () => {
  const rule = { forward_network: null, forward_asset: null, forward_recipient: null }
  const wanted = { kind: 'stable_wallet', id: 'raced', ...rule } as const
  const owners = await Promise.all(Array.from({ length: 20 }, () => api.owners.keep(wanted)))
  expect(new Set(owners.map((kept) => kept.kind === 'kept' && kept.owner.branch)).size).toBe(1)
})

test('a StableWallet is answered inside stable_wallet, and again the same way', async () => {
  const answer = await call(wallets(), writeKey, { id: 'savings' })
  expect(answer.status).toBe(201)
  expect(Object.keys(answer.body)).toEqual(['stable_wallet'])
  const wallet = answer.body['stable_wallet'] as { id: string; deposit_addresses: unknown[] }
  expect(Object.keys(wallet)).toEqual(['id', 'deposit_addresses'])
  expect(wallet.deposit_addresses).toHaveLength(4)
  expect(await call(wallets(), writeKey, { id: 'savings' })).toEqual(answer)
})

const validSolana = 'vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg'
const base = { id: 'x', forward_network: 'base', forward_asset: 'USDC', forward_recipient: recipient }

test.each([
  ['an asset in two minds', { ...base, forward_token: 'ETH' }, 'fields_contradict'],
  ['a destination in two minds', { ...base, forward_address: validSolana }, 'fields_contradict'],
  ['no asset', { ...base, forward_asset: undefined }, 'request_invalid'],
  ['no destination', { ...base, forward_recipient: undefined }, 'request_invalid'],
  ['no id', { ...base, id: undefined }, 'request_invalid'],
  ['an id with a space', { ...base, id: 'a b' }, 'request_invalid'],
  ['an id of the wrong type', { ...base, id: 7 }, 'request_invalid'],
  ['an unknown field', { ...base, forward_to: 'x' }, 'request_invalid'],
  ['an unknown network', { ...base, forward_network: 'dogechain' }, 'network_unknown'],
  ['an asset the network lacks', { ...base, forward_asset: 'SOL' }, 'asset_unknown'],
  ['an address of another network', { ...base, forward_recipient: validSolana }, 'address_invalid'],
  [
    'a wrong checksum',
    { ...base, forward_recipient: recipient.replace('BeAed', 'beAed') },
    'address_invalid',
  ],
  ['the zero address', { ...base, forward_recipient: `0x${'0'.repeat(40)}` }, 'address_invalid'],
  [
    'a Solana address cut short',
    { ...base, forward_network: 'solana', forward_recipient: validSolana.slice(2) },
    'address_invalid',
  ],
  ['no JSON', '{"id": ', 'body_malformed'],
  ['a list', [base], 'request_invalid'],
])('%s is refused with 400', async (...[, body, code]) => {
  const answer = await call(channels(), writeKey, body)
  expect(answer).toMatchObject({ status: 400, type: 'application/problem+json', body: { status: 400, code } })
  expect(answer.body['detail']).toEqual(expect.any(String))
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
