import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Address, NetworkName } from '../../../src/core/asset.ts'
import { call, readKey, writeKey } from '../fixtures.ts'
import { type OpenApi, openApi } from './open-api.ts'

let api: OpenApi

beforeAll(async () => {
  api = await openApi()
})

afterAll(() => api.close())

const channels = (): string => `${api.url}/v1/channels`
const wallets = (): string => `${api.url}/v1/stable-wallets`

const recipient = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

const validSolana = 'vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg'
const base = { id: 'x', forward_network: 'base', forward_asset: 'USDC', forward_recipient: recipient }

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

function quotesOf(prices: Record<string, string>) {
  return { quotes: { prices, source: null, feeBasisPoints: 0, spreadBasisPoints: 0 } }
}

test('an asset into which no price converts is refused by its name, unless the channel exists or there is no price at all', async () => {
  const rule = { ...base, id: 'unpriced', forward_asset: undefined, forward_token: 'ETH' }
  await using stack = new AsyncDisposableStack()
  const [unpriced, none] = [await openApi(quotesOf({ 'SOL/USDC': '150' })), await openApi(quotesOf({}))]
  stack.defer(() => unpriced.close())
  stack.defer(() => none.close())
  const detail = 'ETH has no price; no other asset can be converted into it'
  expect(await call(`${unpriced.url}/v1/channels`, writeKey, rule)).toMatchObject({
    status: 409,
    body: { code: 'price_missing', detail, errors: [{ pointer: '/forward_token', detail }] },
  })
  expect(await call(`${none.url}/v1/channels`, writeKey, rule)).toMatchObject({ status: 201 })
  const wanted = { kind: 'channel', id: 'unpriced', forward_asset: 'ETH' } as const
  const forward_recipient = recipient.toLowerCase() as Address
  await unpriced.owners.findOrCreate({ ...wanted, forward_network: 'base' as NetworkName, forward_recipient })
  expect(await call(`${unpriced.url}/v1/channels`, writeKey, rule)).toMatchObject({ status: 201 })
  const priced = { ...base, id: 'priced', forward_network: 'solana', forward_recipient: validSolana }
  for (const symbol of ['SOL', 'USDC']) {
    const answer = await call(`${unpriced.url}/v1/channels`, writeKey, {
      ...priced,
      id: symbol,
      forward_asset: symbol,
    })
    expect(answer.status).toBe(201)
  }
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
  const owners = await Promise.all(Array.from({ length: 20 }, () => api.owners.findOrCreate(wanted)))
  expect(new Set(owners.map((kept) => kept.kind === 'found' && kept.owner.branch)).size).toBe(1)
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

test.each([
  ['a destination in two minds', { ...base, forward_address: validSolana }, 'fields_contradict'],
  ['no destination', { ...base, forward_recipient: undefined }, 'request_invalid'],
  ['no id', { ...base, id: undefined }, 'request_invalid'],
  ['an id with a space', { ...base, id: 'a b' }, 'request_invalid'],
  ['an asset the network lacks', { ...base, forward_asset: 'SOL' }, 'asset_unknown'],
  ['an address of another network', { ...base, forward_recipient: validSolana }, 'address_invalid'],
  [
    'a wrong checksum',
    { ...base, forward_recipient: recipient.replace('BeAed', 'beAed') },
    'address_invalid',
  ],
  ['the zero address', { ...base, forward_recipient: `0x${'0'.repeat(40)}` }, 'address_invalid'],
  [
    'where the service pays from',
    { ...base, forward_recipient: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94' },
    'address_invalid',
  ],
  [
    'where the service pays from on Solana',
    {
      ...base,
      forward_network: 'solana',
      forward_recipient: 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
    },
    'address_invalid',
  ],
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

test('of twenty racing requests for one id that want different things one wins, and the others are told', async () => {
  const networks = ['mainnet', 'base', 'arbitrum']
  const wanted = Array.from({ length: 20 }, (_, place) => ({
    ...base,
    id: 'contested',
    forward_network: networks[place % 3],
  }))
  const answers = await Promise.all(wanted.map((one) => call(channels(), writeKey, one)))
  const made = answers.filter(({ status }) => status === 201)
  const { body } = await call(`${channels()}/contested`, readKey)
  const alike = wanted.filter(({ forward_network: name }) => name === body['forward_network'])
  expect(made).toHaveLength(alike.length)
  expect(new Set(made.map((answer) => JSON.stringify(answer.body)))).toEqual(new Set([JSON.stringify(body)]))
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(20 - alike.length)
})

test.each<[string, string, string, string[]]>([
  ['a key that stands twice', '{"id":"a","id":"b"}', 'key_repeated', ['/id']],
  [
    'every unknown field, and every one that is missing',
    '{"id":"a","to":1,"from":2}',
    'request_invalid',
    ['/forward_network', '/to', '/from'],
  ],
  [
    'a prototype',
    '{"id":"a","__proto__":{"admin":true}}',
    'request_invalid',
    ['/forward_network', '/__proto__'],
  ],
  ['a value of another type', JSON.stringify({ ...base, id: ['a'] }), 'request_invalid', ['/id']],
  [
    'a text with NUL',
    JSON.stringify({ ...base, forward_asset: 'US\0DC' }),
    'request_invalid',
    ['/forward_asset'],
  ],
  [
    'what contradicts',
    JSON.stringify({ ...base, forward_token: 'ETH' }),
    'fields_contradict',
    ['/forward_asset', '/forward_token'],
  ],
  [
    'what is missing in both spellings',
    JSON.stringify({ ...base, forward_asset: undefined }),
    'request_invalid',
    ['/forward_asset'],
  ],
  [
    'an address, by the spelling that was used',
    JSON.stringify({ ...base, forward_recipient: undefined, forward_address: 'x' }),
    'address_invalid',
    ['/forward_address'],
  ],
  ['a network', JSON.stringify({ ...base, forward_network: 'x' }), 'network_unknown', ['/forward_network']],
  ['an asset', JSON.stringify({ ...base, forward_asset: 'x' }), 'asset_unknown', ['/forward_asset']],
])('%s is named with its place', async (...[, body, code, places]) => {
  const answer = await call(channels(), writeKey, body)
  const errors = answer.body['errors'] as { pointer: string }[]
  expect([answer.status, answer.body['code'], errors.map(({ pointer }) => pointer)]).toEqual([
    400,
    code,
    places,
  ])
})
