import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAmount } from '../../src/core/money.ts'
import { type Authorize, createAuthorize } from '../../src/provider/authorize.ts'
import { startChains } from '../../src/sandbox/chains.ts'
import { demoOwners } from '../../src/sandbox/demo.ts'
import { freePort } from '../../src/sandbox/free-port.ts'
import { sandboxSecrets, startSandboxService } from '../../src/sandbox/sandbox-service.ts'
import { startReceiver, type TakenWebhook, type WebhookReceiver } from '../service/webhook-receiver.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { serviceAuth } from '../support/service-auth.ts'
import { until } from '../support/until.ts'
import { type Answer, at, clients, type Json, type ShapeClient, textAt } from './clients.ts'
import { type Front, shapes } from './front.ts'
import type { OurChannel, OurDeposit, OurPage, OurWallet } from './shape.ts'

/** Each shape as its clients see it, without the daemon. One service is behind all of them. */

const withinMs = 60_000
const folder = temporaryFolderOfFile()
const stack = new AsyncDisposableStack()
const log = pino({ level: 'silent' })

const payments = [
  { network: 'base', symbol: 'USDC', owner: 'shop', amount: '10.25' },
  { network: 'base', symbol: 'ETH', owner: 'savings', amount: '0.010000000000000001' },
  { network: 'base', symbol: 'USDT', owner: 'payroll', amount: '7.5' },
  { network: 'solana', symbol: 'USDC', owner: 'payroll', amount: '12.5' },
  { network: 'solana', symbol: 'SOL', owner: 'savings', amount: '0.5' },
]

type OpenShape = {
  name: string
  front: Front
  client: ShapeClient
  receiver: WebhookReceiver
  authorize: Authorize
  webhooks: TakenWebhook[]
  webhookPort: number
}

let open: OpenShape[]
let ours: OurDeposit[]
let paid: string[]
let ourOwners: { channels: readonly OurChannel[]; wallets: readonly OurWallet[] }

beforeAll(async () => {
  const database = await emptyDatabase()
  stack.defer(() => database.drop())
  const pace = { blockMs: 200, slotMs: 100, names: ['base', 'solana'] }
  const chains = await startChains({ folder: join(folder, 'chains'), ...pace, log })
  stack.defer(() => chains.stop())
  const secrets = sandboxSecrets(folder)
  const ports = await Promise.all(shapes.map(() => freePort()))
  const service = await startSandboxService({
    networks: chains.networks,
    port: 0,
    secrets,
    databaseUrl: database.url,
    webhooks: ports.map((port) => ({ url: `http://127.0.0.1:${port}/`, secret: secrets.webhookSecret })),
    faults: null,
    log,
  })
  stack.defer(() => service.stop())
  const call = async (path: string, body?: object): Promise<unknown> => {
    const headers = { 'x-api-key': secrets.writeKey, 'content-type': 'application/json' }
    const asked = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(service.url + path, { headers, ...asked })
    return answer.json()
  }
  open = await Promise.all(shapes.map((shape, place) => openShape(shape, ports[place] ?? 0, service.url)))

  const { channels, wallet } = await demoOwners()
  for (const { id, ...rule } of channels)
    await call('/v1/channels', {
      id,
      forward_network: rule.forwardNetwork,
      forward_asset: rule.forwardAsset,
      forward_recipient: rule.forwardRecipient,
    })
  await call('/v1/stable-wallets', { id: wallet })
  ourOwners = {
    channels: ((await call('/v1/channels')) as OurPage<OurChannel>).data,
    wallets: ((await call('/v1/stable-wallets')) as OurPage<OurWallet>).data,
  }
  paid = await Promise.all(
    payments.map(async ({ network: name, symbol, owner, amount }) => {
      const network = chains.networks.find((one) => one.name === name)
      const asset = network?.assets.find((one) => one.symbol === symbol)
      const to = addressesOf(owner).find((one) => one.network === name)?.address
      if (!network || !asset || !to) throw new Error(`nothing to pay: ${name} ${symbol} ${owner}`)
      return network.pay({ asset: asset.key, to: to as never, amount: parseAmount(amount, asset.decimals) })
    }),
  )
  await until('every shape reports the end of every deposit', () => open.every(hasEnded) || null, withinMs)
  ours = ((await call('/v1/proxies/deposits')) as OurPage<OurDeposit>).data as OurDeposit[]

  async function openShape(
    shape: (typeof shapes)[number],
    webhookPort: number,
    serviceUrl: string,
  ): Promise<OpenShape> {
    const client = clients[shape.name]
    if (client === undefined) throw new Error(`${shape.name} has no client`)
    const keys = { api: randomBytes(16).toString('hex'), webhook: randomBytes(16).toString('hex') }
    const options = { serviceUrl, serviceKey: secrets.readKey, webhookPort, keys }
    const front = await shape.start({ ...options, serviceWebhookSecret: secrets.webhookSecret })
    stack.defer(() => front[Symbol.asyncDispose]())
    const receiver = await startReceiver()
    stack.defer(() => receiver.stop())
    front.sendTo(receiver.url)
    const setting = `SERVICE_API_${shape.name.toUpperCase()}_KEY`
    const authorize = createAuthorize(serviceAuth(front.auth, { [setting]: keys.api }), () => new Date())
    return { name: shape.name, front, client, receiver, authorize, webhooks: [], webhookPort }
  }
}, withinMs + 60_000)
afterAll(() => stack.disposeAsync())

function addressesOf(id: string): readonly { network: string; address: string }[] {
  const wallets = ourOwners.wallets.map(({ stable_wallet: wallet }) => wallet)
  return [
    ...(ourOwners.channels.find((one) => one.id === id)?.addresses ?? []),
    ...(wallets.find((one) => one.id === id)?.deposit_addresses ?? []),
  ]
}

function hasEnded({ client, receiver, webhooks }: OpenShape): boolean {
  webhooks.push(...receiver.taken())
  const records = webhooks.flatMap(({ body }) => client.reported(parse(body)))
  const ended = records.filter((record) => client.ended.includes(textAt(record, client.status)))
  return new Set(ended.map((record) => textAt(record, client.payment))).size === payments.length
}

function parse(text: string): Json {
  type Parse = (text: string, revive: (key: string, value: Json, more: { source?: string }) => Json) => Json
  return (JSON.parse as unknown as Parse)(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined ? source : value,
  )
}

async function get({ front, authorize }: OpenShape, path: string): Promise<Answer> {
  const url = new URL(path, front.url)
  const { headers } = await authorize({ method: 'GET', url, body: '' })
  const answer = await fetch(url, { headers })
  expect(answer.status, path).toBe(200)
  return { body: parse(await answer.text()), headers: answer.headers }
}

async function readPages(shape: OpenShape, listing: ShapeClient['deposits']): Promise<(readonly Json[])[]> {
  const pages: (readonly Json[])[] = []
  for (let path: string | null = listing.first; path !== null; ) {
    const answer = await get(shape, path)
    pages.push(listing.records(answer.body))
    path = listing.next(answer, path)
  }
  return pages
}

function leavesOf(value: Json): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leavesOf)
  return value === null ? [] : [String(value)]
}

/** Spellings of an amount, a time or a text of ours. */
function spellings(text: string, decimals: number): string[] {
  const time = Date.parse(text)
  if (/^\d{4}-/.test(text)) return [text, text.replace('Z', ''), `${time}`, `${Math.floor(time / 1000)}`]
  if (!/^\d+$/.test(text)) return [text, text.replace(/^dep_/, '')]
  const units = `${text.padStart(decimals + 1, '0').slice(0, -decimals)}.${text.padStart(decimals, '0').slice(-decimals)}`
  return [text, units.replace(/\.?0+$/, '')]
}

describe.each(shapes)('$name: $title', ({ name }) => {
  const shape = () => open.find((one) => one.name === name) as OpenShape

  test('lists every deposit once, over several pages', async () => {
    const { client } = shape()
    const pages = await readPages(shape(), client.deposits)
    expect(pages.length).toBeGreaterThan(2)
    const listed = pages.flatMap((page) => page.map((record) => textAt(record, client.payment)))
    expect(listed.toSorted()).toEqual(paid.toSorted())
  })

  test('a record says all that ours says', async () => {
    const { client } = shape()
    const records = (await readPages(shape(), client.deposits)).flat()
    for (const { status: _, owner, source, destination, fee, ...rest } of ours) {
      const record = records.find((one) => at(one, client.payment) === source.transaction)
      const told = leavesOf(record ?? null)
      const has = (text: string, decimals: number) =>
        spellings(text, decimals).some((one) =>
          told.some((leaf) => leaf === one || leaf.startsWith(`${one}.`)),
        )
      const { network: _from, ...paidIn } = source
      const { network: _to, ...paidOut } = destination
      const lacking = [
        ...leavesOf([owner.id, { ...paidIn, decimals: null }]).filter((text) => !has(text, source.decimals)),
        ...leavesOf([fee, { ...paidOut, decimals: null }]).filter((text) => !has(text, destination.decimals)),
        ...leavesOf([rest.rate, rest.created_at, rest.updated_at]).filter((text) => !has(text, 0)),
      ]
      expect(lacking, JSON.stringify(record)).toEqual([])
    }
  })

  test('lists the owners, with every address', async () => {
    const pages = await Promise.all(shape().client.owners.map((list) => readPages(shape(), list)))
    const [channels = [], wallets = []] = pages.map((lists) => lists.flat())
    expect([channels.length, wallets.length]).toEqual([ourOwners.channels.length, ourOwners.wallets.length])
    const told = leavesOf([channels, wallets])
    const expected = leavesOf([
      ourOwners.channels.map(({ id, addresses, forward_recipient: recipient }) => [
        id,
        recipient,
        addresses.map(({ address }) => address),
      ]),
      ourOwners.wallets.map(({ stable_wallet: { id, deposit_addresses: addresses } }) => [
        id,
        addresses.map(({ address }) => address),
      ]),
    ])
    expect(expected.filter((text) => !told.includes(text))).toEqual([])
  })

  test('refuses requests without the key', async () => {
    const { client, front } = shape()
    for (const { first } of [client.deposits, ...client.owners]) {
      const bare = await fetch(new URL(first, front.url))
      const wrong = createAuthorize(
        serviceAuth(front.auth, { [`SERVICE_API_${name.toUpperCase()}_KEY`]: 'another' }),
        () => new Date(),
      )
      const url = new URL(first, front.url)
      const { headers } = await wrong({ method: 'GET', url, body: '' })
      expect([bare.status, (await fetch(url, { headers })).status]).toEqual([401, 401])
    }
  })

  test('publishes which calls it has, unless it has no such document', async () => {
    const { specification, deposits, owners } = shape().client
    if (specification === null) return
    const { body } = await get(shape(), specification)
    const published = Object.keys(at(body, 'paths') ?? {})
    const called = [deposits, ...owners].map(({ first }) => first.replace(/\?.*/, ''))
    expect(called.filter((path) => !published.includes(path))).toEqual([])
  })

  test('signs each webhook', () => {
    const { client, front, webhooks, receiver } = shape()
    const from = { secret: front.webhookSecret, url: receiver.url }
    expect(webhooks.length).toBeGreaterThan(payments.length)
    expect(webhooks.filter((webhook) => !client.isSigned(webhook, from))).toEqual([])
    // A shared secret signs nothing.
    if (name === 'dunlin') return
    const changed = webhooks.map((webhook) => ({ ...webhook, body: `${webhook.body} ` }))
    expect(changed.filter((webhook) => client.isSigned(webhook, from))).toEqual([])
  })

  test('what our service did not sign is passed on with a wrong signature', async () => {
    const { client, front, receiver, webhookPort } = shape()
    const event = { id: 'evt_1', Type: 'deposit.confirmed', created_at: ours[0]?.updated_at, data: ours[0] }
    const headers = { 'webhook-id': event.id, 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' }
    const sent = { method: 'POST', headers, body: JSON.stringify(event) }
    expect((await fetch(`http://127.0.0.1:${webhookPort}/`, sent)).status).toBe(204)
    const [webhook, ...others] = receiver.taken()
    if (webhook === undefined) throw new Error('it was passed on')
    const told = client.reported(parse(webhook.body)).map((record) => textAt(record, client.payment))
    expect([told, others]).toEqual([[ours[0]?.source.transaction], []])
    expect(client.isSigned(webhook, { secret: front.webhookSecret, url: receiver.url })).toBe(false)
  })

  test('passes on the refusal of a receiver, so that our service sends again', async () => {
    const { receiver, webhookPort } = shape()
    const event = { id: 'evt_2', type: 'endpoint.test', created_at: ours[0]?.updated_at, data: {} }
    const sent = { method: 'POST', body: JSON.stringify(event) }
    receiver.answerWith(429, { 'retry-after': '7' })
    const { status, headers } = await fetch(`http://127.0.0.1:${webhookPort}/`, sent)
    expect([status, headers.get('retry-after')]).toEqual([429, '7'])
    expect(receiver.taken()).toHaveLength(1)
  })
})

test('heron reports up to three changes in one webhook', () => {
  const { webhooks } = open.find(({ name }) => name === 'heron') as OpenShape
  const sizes = webhooks.map(({ body }) => (at(parse(body), 'events') as readonly Json[]).length)
  expect([Math.min(...sizes) >= 1, Math.max(...sizes) > 1, Math.max(...sizes) <= 3]).toEqual([
    true,
    true,
    true,
  ])
})
