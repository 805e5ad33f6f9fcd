import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultService } from '../../src/core/evidence.ts'
import { createOwnersClient, type OwnersClient } from '../../src/provider/owners-client.ts'
import { ownersSchema } from '../../src/provider/profile/profile-schema.ts'
import { createServiceCall } from '../../src/provider/service-call.ts'
import { startRawService } from '../support/raw-service.ts'
import { keyAuth } from '../support/service-auth.ts'

let stack: AsyncDisposableStack
beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(() => stack.disposeAsync())

const own = { owners: ownersSchema.parse({ channels: {}, wallets: {} }), networks: {} }

async function client(listener: RequestListener, profile: typeof own = own): Promise<OwnersClient> {
  const { url } = stack.use(await startRawService(listener))
  return createOwnersClient(
    { name: defaultService, url, call: createServiceCall({ url, auth: keyAuth('key') }) },
    profile,
  )
}

const addresses = [{ network: 'base', address: '0x1' }]
const rule = { forward_network: 'base', forward_asset_symbol: 'USDC', forward_recipient: '0x2' }
const channel = { id: 'c', forwardNetwork: 'base', forwardAsset: 'USDC', forwardRecipient: '0x2' }
const forward = { network: 'base', asset: 'USDC', recipient: '0x2' }

test('channels and wallets are created in the spelling of the interface', async () => {
  const bodies: string[] = []
  const { createChannel, createStableWallet } = await client((request, response) => {
    const created = request.url?.endsWith('channels')
      ? { id: 'c', addresses, ...rule }
      : { stable_wallet: { id: 'w', deposit_addresses: addresses } }
    void text(request).then((body) => {
      bodies.push(`${request.method} ${request.url} ${request.headers['content-type']} ${body}`)
      return response.end(JSON.stringify(created))
    })
  })
  const owner = { kind: 'channel', id: 'c' }
  expect(await createChannel(channel)).toEqual({ owner, deposits: addresses, forward })
  const wallet = { owner: { kind: 'stable_wallet', id: 'w' }, deposits: addresses, forward: null }
  expect(await createStableWallet('w')).toEqual(wallet)
  expect(bodies).toEqual([
    'POST /v1/channels application/json {"id":"c","forward_network":"base","forward_asset":"USDC","forward_recipient":"0x2"}',
    'POST /v1/stable-wallets application/json {"id":"w"}',
  ])
})

test.each([
  [
    { stable_wallet: { id: 'w', deposit_addresses: [] } },
    'stable_wallet.deposit_addresses is no list of addresses',
  ],
  [{ stable_wallet: { id: 'w' } }, 'stable_wallet.deposit_addresses is no list of addresses'],
  [{ stable_wallet: { deposit_addresses: addresses } }, 'stable_wallet.id is missing'],
  [{ stable_wallet: { id: 'w', deposit_addresses: [{ network: 'base' }] } }, 'address is missing'],
  ['w', 'stable_wallet.deposit_addresses is no list of addresses'],
])('an answer that lacks something is a fault: %j', async (answer, problem) => {
  const { createStableWallet } = await client((_request, response) => response.end(JSON.stringify(answer)))
  await expect(createStableWallet('w')).rejects.toMatchObject({
    code: 'remote_failed',
    details: { what: 'POST /v1/stable-wallets', problem: `unexpected answer: ${problem}` },
  })
})

test('a list is read to its end', async () => {
  const asked: (string | undefined)[] = []
  const { list } = await client(({ url }, response) => {
    asked.push(url)
    const isFirst = !url?.includes('cursor=two')
    const data = [{ id: isFirst ? 'a' : 'b', addresses, ...rule }]
    response.end(JSON.stringify({ data, next_cursor: isFirst ? 'two' : null }))
  })
  expect((await list('channel'))?.map(({ owner }) => owner.id)).toEqual(['a', 'b'])
  expect(asked).toEqual(['/v1/channels?limit=100', '/v1/channels?limit=100&cursor=two'])
})

test('ids that are numbers are read from lists as from answers, digit for digit', async () => {
  const { list } = await client((_request, response) =>
    response.end(
      `{"data":[${JSON.stringify({ addresses, ...rule }).replace('{', '{"id":9007199254740993,')}]}`,
    ),
  )
  expect((await list('channel'))?.map(({ owner }) => owner.id)).toEqual(['9007199254740993'])
})

test('a network called like a part of every object stays as it is', async () => {
  const { list } = await client((_request, response) =>
    response.end(
      JSON.stringify({
        data: [{ id: 'c', ...rule, addresses: [{ network: 'constructor', address: '0x1' }] }],
      }),
    ),
  )
  expect((await list('channel'))?.[0]?.deposits).toEqual([{ network: 'constructor', address: '0x1' }])
})

test('a service of other words, fields and pages is fitted by the profile', async () => {
  const owners = ownersSchema.parse({
    channels: {
      create: { path: '/routes', body: { id: 'name', network: 'chain', asset: 'coin', recipient: 'to' } },
      list: { path: '/routes', pages: 'page', items: 'rows' },
      record: {
        id: 'route.name',
        addresses: 'route.inboxes',
        network: 'chain',
        address: 'value',
        forwardNetwork: ['route.chain'],
        forwardAsset: 'route.coin',
        forwardRecipient: ['route.dest', 'route.to'],
      },
    },
    wallets: { list: null },
  })
  const route = {
    name: 'c',
    chain: 'BASE',
    coin: 'USDC',
    to: '0x2',
    inboxes: [{ chain: 'BASE', value: '0x1' }],
  }
  const asked: string[] = []
  const { createChannel, list } = await client(
    (request, response) => {
      void text(request).then((body) => {
        asked.push(`${request.method} ${request.url} ${body}`.trim())
        const rows = request.url?.includes('page=1') ? [{ route }] : []
        return response.end(JSON.stringify(request.method === 'POST' ? { route } : { rows }))
      })
    },
    { owners, networks: { BASE: 'base' } },
  )
  const stated = { owner: { kind: 'channel', id: 'c' }, deposits: addresses, forward }
  expect(await createChannel(channel)).toEqual(stated)
  expect(await list('channel')).toEqual([stated])
  expect(await list('stable_wallet')).toBeNull()
  expect(asked).toEqual([
    'POST /routes {"name":"c","chain":"BASE","coin":"USDC","to":"0x2"}',
    'GET /routes?limit=100&page=1',
    'GET /routes?limit=100&page=2',
  ])
})

test.each([404, 405])('a service that answers a list with %d has none', async (status) => {
  const { list } = await client((_request, response) => response.writeHead(status).end('no'))
  expect(await list('channel')).toBeNull()
})

test('an owner that a shifted page repeats is one owner, with each address once', async () => {
  const [a, b] = ['a', 'b'].map((id) => ({ id, addresses, ...rule }))
  const { list } = await client(({ url }, response) => {
    const page = url?.includes('cursor') ? { data: [a, b] } : { data: [a], next_cursor: 'two' }
    response.end(JSON.stringify(page))
  })
  expect(await list('channel')).toEqual(
    ['a', 'b'].map((id) => ({ owner: { kind: 'channel', id }, deposits: addresses, forward })),
  )
})

test('a list that breaks off is a fault, never a short list', async () => {
  const { list } = await client(({ url }, response) => {
    if (url?.includes('cursor')) response.writeHead(404).end('gone')
    else response.end(JSON.stringify({ data: [{ id: 'a', addresses, ...rule }], next_cursor: 'two' }))
  })
  await expect(list('channel')).rejects.toMatchObject({ code: 'remote_failed' })
})

test('a key that may not create is told as it is, without looking at lists', async () => {
  const asked: (string | undefined)[] = []
  const { createChannel } = await client(({ method }, response) => {
    asked.push(method)
    response.writeHead(403).end('scope')
  })
  await expect(createChannel(channel)).rejects.toThrow(/403 scope/)
  expect(asked).toEqual(['POST'])
})
