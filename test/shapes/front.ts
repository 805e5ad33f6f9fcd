import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { dunlin } from './dunlin.ts'
import { heron } from './heron.ts'
import { quay } from './quay.ts'
import {
  isSame,
  type OurDeposit,
  type OurEvent,
  type OurPage,
  type OurPayout,
  type OurService,
  type Shape,
} from './shape.ts'
import { skua } from './skua.ts'
import { tern } from './tern.ts'

/**
 * Services that are not ours, each in front of one of ours: what they say is the same, how they say it is not. They
 * share no code with the daemon.
 */

export type FrontOptions = {
  /** Of our service. */
  serviceUrl: string
  serviceKey: string
  /** Our service sends its webhooks there. */
  webhookPort: number
  /** With it, a webhook that our service did not sign right is not signed right either when it goes on. */
  serviceWebhookSecret?: string
  /** Any texts: the key of the API, and the one from which the signing key is made. */
  keys: { api: string; webhook: string }
  /** Of deposits delivered in several transactions: all of them. */
  payouts?: (deposit: OurDeposit) => Promise<readonly OurPayout[]>
}

export type Front = AsyncDisposable & {
  /** Of the API, without a slash at the end. */
  url: string
  /** Where webhooks go from now on; before that they fail with 503. */
  sendTo: (url: string) => void
  /** The section `auth` of the daemon's settings; its secret SERVICE_API_{NAME}_KEY is the key of the API. */
  auth: Record<string, unknown>
  /** What the daemon needs to verify: a secret, or a public key in PEM. */
  webhookSecret: string
}

export const shapes: readonly {
  name: string
  title: string
  start: (options: FrontOptions) => Promise<Front>
}[] = [tern, quay, skua, dunlin, heron].map((shape) => ({
  name: shape.name,
  title: shape.title,
  start: (options) => startFront(shape, options),
}))

async function startFront(shape: Shape, options: FrontOptions): Promise<Front> {
  const forwarding = createForwarding(shape, options)
  const webhooks = await listen(options.webhookPort, forwarding.receive)
  const api = await listen(0, (request, response) => answer(shape, options, { request, response }))
  return {
    url: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    sendTo: forwarding.sendTo,
    auth: shape.auth,
    webhookSecret: shape.webhookSecret(options.keys.webhook),
    async [Symbol.asyncDispose]() {
      await Promise.all([webhooks, api].map(close))
    },
  }
}

type Exchange = { request: IncomingMessage; response: ServerResponse }

async function answer(shape: Shape, options: FrontOptions, { request, response }: Exchange): Promise<void> {
  const { method = '', headers } = request
  const url = new URL(request.url ?? '', `http://${headers.host}`)
  const refuse = (status: number, more = {}) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...more })
      .end(JSON.stringify({ error: `${status}` }))
  if (!shape.isAuthorized({ method, url, headers }, options.keys.api)) return void refuse(401)
  if (method !== 'GET') return void refuse(405)
  const isOver = new AbortController()
  response.once('close', () => isOver.abort())
  try {
    const found =
      url.pathname === shape.specification?.path
        ? { body: specificationOf(shape) }
        : await shape.answer({ method, url, headers }, readService(options, isOver.signal))
    if (found === null) return void refuse(404)
    response.writeHead(200, { 'content-type': 'application/json', ...found.headers })
    response.end(JSON.stringify(found.body))
  } catch (error) {
    if (!(error instanceof UpstreamRefusal)) throw error
    refuse(error.status, error.headers)
  }
}

function specificationOf({ title, specification }: Shape): object {
  const paths = Object.entries(specification?.calls ?? {}).map(([path, names]) => {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true }))
    const inQuery = names.map((name) => ({ name, in: 'query', required: false }))
    const parameters = [...inPath, ...inQuery].map((one) => ({ ...one, schema: { type: 'string' } }))
    return [path, { get: { parameters, responses: { 200: { description: 'OK' } } } }]
  })
  return { openapi: '3.1.0', info: { title, version: '1' }, paths: Object.fromEntries(paths) as object }
}

/** Our service refused a call: so does the front. */
class UpstreamRefusal extends Error {
  readonly status: number
  readonly headers: Record<string, string>

  constructor({ status, headers }: Response) {
    super(`the service answered ${status}`)
    this.status = status
    const pause = headers.get('retry-after')
    this.headers = pause === null ? {} : { 'retry-after': pause }
  }
}

async function withPayouts<Item>(item: Item, { payouts }: FrontOptions): Promise<Item> {
  if (payouts === undefined || !isForwarded(item)) return item
  const all = await payouts(item)
  return all.length < 2 ? item : { ...item, destination: { ...item.destination, payouts: all } }
}

function isForwarded(item: unknown): item is OurDeposit {
  const { destination } = item as { destination?: { transaction: string | null } }
  return typeof destination?.transaction === 'string'
}

const paths = { deposits: '/v1/proxies/deposits', channels: '/v1/channels', wallets: '/v1/stable-wallets' }

function readService(options: FrontOptions, signal: AbortSignal): OurService {
  const { serviceUrl, serviceKey } = options
  const read = async <Body>(path: string): Promise<Body> => {
    const answered = await fetch(serviceUrl + path, { headers: { 'x-api-key': serviceKey }, signal })
    if (!answered.ok) throw new UpstreamRefusal(answered)
    return (await answered.json()) as Body
  }
  const page: OurService['page'] = async (list, query) => {
    const found: OurPage<never> = await read(`${paths[list]}?${new URLSearchParams(query).toString()}`)
    return { ...found, data: await Promise.all(found.data.map((item) => withPayouts(item, options))) }
  }
  return {
    page,
    async all(list) {
      const items: Awaited<ReturnType<typeof page<typeof list>>>['data'][number][] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: Record<string, string> = { limit: '500', ...(cursor !== '' && { cursor }) }
        const { data, next_cursor: next }: OurPage<(typeof items)[number]> = await page(list, query)
        items.push(...data)
        cursor = next
      }
      return items
    },
    deposit: async (id) => withPayouts(await read(`${paths.deposits}/${encodeURIComponent(id)}`), options),
  }
}

type WaitingEvent = { event: OurEvent; answered: (outcome: DeliveryOutcome) => void }
type DeliveryOutcome = { status: number; headers: Record<string, string> }

/** Our service sends again whatever the receiver does not take. */
function createForwarding(shape: Shape, options: FrontOptions) {
  const { keys, serviceWebhookSecret } = options
  let target: string | null = null
  let waiting: WaitingEvent[] = []
  let timer: NodeJS.Timeout | undefined
  const send = async (body: string, { id, key }: { id: string; key: string }): Promise<DeliveryOutcome> => {
    if (target === null) return { status: 503, headers: {} }
    return post(target, body, shape.sign({ id, url: target, body, at: new Date() }, key))
  }
  const flush = async () => {
    clearTimeout(timer)
    const batch = waiting
    waiting = []
    const body = JSON.stringify(shape.payload(batch.map(({ event }) => event)))
    const id = batch.map((one) => one.event.id).join('.')
    const outcome = await send(body, { id, key: keys.webhook })
    for (const { answered } of batch) answered(outcome)
  }
  const join = (event: OurEvent): Promise<DeliveryOutcome> =>
    new Promise((answered) => {
      waiting.push({ event, answered })
      if (waiting.length >= shape.batch.max) void flush()
      else if (waiting.length === 1) timer = setTimeout(() => void flush(), shape.batch.withinMs)
    })
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request)
    const sent = JSON.parse(body) as OurEvent
    const event = { ...sent, data: await withPayouts(sent.data, options) }
    const isGenuine = serviceWebhookSecret === undefined || isSigned(request, body, serviceWebhookSecret)
    const forged = { id: event.id, key: `not ${keys.webhook}` }
    const outcome = isGenuine ? await join(event) : await send(JSON.stringify(shape.payload([event])), forged)
    response.writeHead(outcome.status, outcome.headers).end()
  }
  const sendTo = (url: string) => {
    target = url
  }
  return { receive, sendTo }
}

/** According to Standard Webhooks, by HMAC-SHA256. */
function isSigned({ headers }: IncomingMessage, body: string, secret: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  const expected = `v1,${createHmac('sha256', key).update(content).digest('base64')}`
  return String(headers['webhook-signature'])
    .split(' ')
    .some((one) => isSame(one, expected))
}

async function post(url: string, body: string, headers: Record<string, string>): Promise<DeliveryOutcome> {
  const answered = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  }).catch(() => null)
  const pause = answered?.headers.get('retry-after') ?? null
  return { status: answered?.status ?? 503, headers: pause === null ? {} : { 'retry-after': pause } }
}

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>

async function listen(port: number, handle: Handle): Promise<Server> {
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}
