import { afterAll, beforeAll, expect, test } from 'vitest'
import { call, readKey, writeKey } from '../fixtures.ts'
import { type OpenApi, openApi } from './open-api.ts'

let api: OpenApi

beforeAll(async () => {
  api = await openApi()
})

afterAll(() => api.close())

type Page = { data: { id?: string; stable_wallet?: { id: string } }[]; next_cursor: string | null }

const recipient = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const rule = { forward_network: 'base', forward_asset: 'USDC', forward_recipient: recipient }

function create(kind: string, id: string) {
  return call(`${api.url}/v1/${kind}`, writeKey, kind === 'channels' ? { id, ...rule } : { id })
}

async function page(kind: string, query: string): Promise<{ ids: string[]; next: string | null }> {
  const { body } = await call(`${api.url}/v1/${kind}?${query}`, readKey)
  const { data, next_cursor: next } = body as unknown as Page
  return { ids: data.map(({ id, stable_wallet: wallet }) => id ?? wallet?.id ?? ''), next }
}

async function walk(kind: string, limit: number, between: () => Promise<unknown>): Promise<string[]> {
  const ids: string[] = []
  let cursor = ''
  for (;;) {
    const { ids: here, next } = await page(kind, `limit=${limit}${cursor}`)
    ids.push(...here)
    if (next === null) return ids
    cursor = `&cursor=${next}`
    await between()
  }
}

test.each(['channels', 'stable-wallets'])(
  '%s are listed newest first, and those that come meanwhile move no page',
  async (kind) => {
    const first = Array.from({ length: 7 }, (_, number) => `first-${number}`)
    for (const id of first) await create(kind, id)
    let later = 0
    const walked = await walk(kind, 2, () =>
      Promise.all(Array.from({ length: 5 }, () => create(kind, `later-${later++}`))),
    )
    expect(walked).toEqual(first.toReversed())
    const whole = await walk(kind, 500, () => Promise.resolve())
    expect(whole).toHaveLength(7 + later)
    expect(whole.slice(-7)).toEqual(first.toReversed())
  },
)

test('a page that holds all has no cursor, and one more than it holds gives one', async () => {
  const { ids } = await page('channels', 'limit=500')
  expect((await page('channels', `limit=${ids.length}`)).next).toBeNull()
  expect((await page('channels', `limit=${ids.length - 1}`)).next).toEqual(expect.any(String))
})

test('a cursor of another list, and one that was made up, are refused by name', async () => {
  const { next } = await page('channels', 'limit=1')
  const madeUp = [`${next}=`, `${next}!`, 'abc', Buffer.from('channels:0').toString('base64url')]
  const tried = [
    ['stable-wallets', next],
    ['proxies/deposits', next],
    ...madeUp.map((text) => ['channels', text]),
  ]
  for (const [kind, cursor] of tried) {
    expect(await call(`${api.url}/v1/${kind}?cursor=${cursor}`, readKey)).toMatchObject({
      status: 400,
      body: { code: 'cursor_invalid', errors: [{ parameter: 'cursor' }] },
    })
  }
})

test('a channel and a StableWallet are retrieved as they were created, and what is not there is not', async () => {
  const channel = await create('channels', 'a:b@c.d')
  const wallet = await create('stable-wallets', 'a:b@c.d')
  const path = encodeURIComponent('a:b@c.d')
  expect(await call(`${api.url}/v1/channels/${path}`, readKey)).toMatchObject({
    status: 200,
    body: channel.body,
  })
  const retrieved = await call(`${api.url}/v1/stable-wallets/${path}`, readKey)
  expect(retrieved).toMatchObject({ status: 200, body: wallet.body })
  expect(retrieved.body['stable_wallet']).toMatchObject({
    balance: { asset: 'USDC', decimals: 6, amount: '0' },
  })
  for (const kind of ['channels', 'stable-wallets', 'proxies/deposits']) {
    expect(await call(`${api.url}/v1/${kind}/nothing`, readKey)).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    })
  }
})

test.each([
  ['a path that is no text', '/v1/channels/%ff', 'http_malformed'],
  ['a path with half an escape', '/v1/channels/%2', 'http_malformed'],
  ['NUL in a path', '/v1/channels/%00', 'request_invalid'],
  ['an id that cannot be', '/v1/channels/a%20b', 'request_invalid'],
  ['NUL in a query', '/v1/proxies/deposits?network=%00', 'request_invalid'],
  ['a limit twice', '/v1/channels?limit=1&limit=2', 'request_invalid'],
  ['a limit of nothing', '/v1/channels?limit=0', 'request_invalid'],
  ['a limit that is no number', '/v1/channels?limit=1e2', 'request_invalid'],
  ['a parameter that there is not', '/v1/channels?__proto__=1', 'request_invalid'],
])('%s is refused', async (...[, path, code]) => {
  const answer = await call(`${api.url}${path}`, readKey)
  expect(answer).toMatchObject({ status: 400, body: { code } })
})
