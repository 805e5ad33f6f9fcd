import { afterAll, beforeAll, expect, test } from 'vitest'
import { call, readKey, send, writeKey } from '../fixtures.ts'
import { type OpenApi, openApi } from './open-api.ts'

let api: OpenApi

const recipient = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

beforeAll(async () => {
  api = await openApi()
  const rule = { forward_network: 'base', forward_asset: 'USDC', forward_recipient: recipient }
  await call(`${api.url}/v1/channels`, writeKey, { id: 'shop', ...rule })
  await call(`${api.url}/v1/stable-wallets`, writeKey, { id: 'shop' })
})

afterAll(() => api.close())

const place = (kind = 'channels', id = 'shop') => `${api.url}/v1/${kind}/${id}/policy`
const put = (body: unknown, url = place()) => send('PUT', url, { key: writeKey, body })

const whole = {
  hold: false,
  minimum_amounts: [{ network: 'mainnet', asset: 'ETH', amount: '1000000000000000' }],
  assets: { deny: [{ network: 'solana', asset: 'SOL' }] },
  senders: { allow: [recipient, recipient.toLowerCase(), 'vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg'] },
  otherwise: 'refund',
}

test.each(['channels', 'stable-wallets'])(
  'a policy of %s is put, read, replaced and deleted',
  async (kind) => {
    const read = () => call(place(kind), readKey)
    const none = { policy: null, updated_at: null }
    expect(await read()).toMatchObject({ status: 200, body: none })
    expect(await put(whole, place(kind))).toMatchObject({ status: 200, body: { policy: whole } })
    expect(await put({ hold: true }, place(kind))).toMatchObject({ status: 200 })
    expect((await read()).body).toEqual({ policy: { hold: true }, updated_at: expect.any(String) })
    const deletion = () => send('DELETE', place(kind), { key: writeKey })
    expect(await deletion()).toMatchObject({ status: 200, body: none })
    expect(await deletion()).toMatchObject({ status: 200, body: none })
    expect((await read()).body).toEqual(none)
  },
)

test('a channel and a StableWallet of one id have policies of their own', async () => {
  await put({ hold: true })
  expect((await call(place('stable-wallets'), readKey)).body['policy']).toBeNull()
})

test.each([
  [
    'a network that there is not',
    { assets: { deny: [{ network: 'x', asset: 'ETH' }] } },
    'network_unknown',
    '/assets/deny/0/network',
  ],
  [
    'an asset that its network lacks',
    { minimum_amounts: [whole.minimum_amounts[0], { network: 'base', asset: 'SOL', amount: '1' }] },
    'asset_unknown',
    '/minimum_amounts/1/asset',
  ],
  [
    'a sender that is no address',
    { senders: { deny: [recipient, 'me'] } },
    'address_invalid',
    '/senders/deny/1',
  ],
  [
    'a sender with a wrong checksum',
    { senders: { allow: [recipient.replace('BeAed', 'beAed')] } },
    'address_invalid',
    '/senders/allow/0',
  ],
  [
    'a list that both allows and denies',
    { senders: { allow: [recipient], deny: [recipient] } },
    'request_invalid',
    '/senders/deny',
  ],
  ['a list that is neither', { assets: {} }, 'request_invalid', '/assets/allow'],
  ['a list that is a word', { senders: { deny: 'me' } }, 'request_invalid', '/senders/deny'],
  ['an empty list', { senders: { deny: [] } }, 'request_invalid', '/senders/deny'],
  [
    'an amount that is a number',
    { minimum_amounts: [{ network: 'base', asset: 'ETH', amount: 1 }] },
    'request_invalid',
    '/minimum_amounts/0/amount',
  ],
  [
    'an amount with a point',
    { minimum_amounts: [{ network: 'base', asset: 'ETH', amount: '1.5' }] },
    'request_invalid',
    '/minimum_amounts/0/amount',
  ],
  ['another end', { otherwise: 'burn' }, 'request_invalid', '/otherwise'],
  ['a rule that there is not', { maximum: 1 }, 'request_invalid', '/maximum'],
])('%s is refused and named', async (...[, policy, code, pointer]) => {
  expect(await put(policy)).toMatchObject({ status: 400, body: { code, errors: [{ pointer }] } })
})

test('a policy needs its owner, and the write scope', async () => {
  const calls = [
    call(place('channels', 'nobody'), readKey),
    put({}, place('channels', 'nobody')),
    send('DELETE', place('stable-wallets', 'nobody'), { key: writeKey }),
  ]
  for (const answer of await Promise.all(calls)) {
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
  }
  expect(await send('PUT', place(), { key: readKey, body: {} })).toMatchObject({ status: 403 })
  expect(await send('DELETE', place(), { key: readKey })).toMatchObject({ status: 403 })
})

test('a body where none is taken is refused, so that nobody believes it was heard', async () => {
  expect(await send('DELETE', place(), { key: writeKey, body: {} })).toMatchObject({
    status: 400,
    body: { code: 'request_invalid', detail: 'this operation accepts no body' },
  })
})
