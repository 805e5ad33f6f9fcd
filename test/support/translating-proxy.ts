import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { DepositRecord } from '../../src/service/deposits/record.ts'
import { otherEvent, otherRecord } from './other-service.ts'

/** Our service, as a service of another shape would be: what it says is the same, how it says it is not. */
export type OtherService = AsyncDisposable & {
  /** Of its API, which lists deposits in numbered pages and does nothing else. */
  url: string
  /** Where its webhooks go from now on; before that they fail. */
  sendTo: (url: string) => void
}

type Translating = {
  /** Of our service. */
  serviceUrl: string
  /** Where our service sends its webhooks. */
  webhookPort: number
  /** Base64 of the key that the webhooks are signed with. */
  secret: string
}

/** Fewer than are asked for, so that a handful of deposits takes several pages. */
const pageSize = 3

export async function startOtherService({
  serviceUrl,
  webhookPort,
  secret,
}: Translating): Promise<OtherService> {
  let target: string | null = null
  const webhooks = await listen(webhookPort, async (request, response) => {
    const body = Buffer.from(JSON.stringify(otherEvent(JSON.parse(await text(request)) as never)))
    const status = target === null ? 503 : await deliver(target, body, signature(body, request, secret))
    response.writeHead(status).end()
  })
  const api = await listen(0, async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', serviceUrl)
    if (request.method !== 'GET' || pathname !== '/v1/proxies/deposits') {
      response.writeHead(404).end()
      return
    }
    const records = await allDeposits(serviceUrl, request)
    const page = Number(searchParams.get('page') ?? 1)
    const items = records.slice((page - 1) * pageSize, page * pageSize).map(otherRecord)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ items, page, pages: Math.ceil(records.length / pageSize) }))
  })
  return {
    url: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    sendTo: (url) => {
      target = url
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([webhooks, api].map(close))
    },
  }
}

/** HMAC-SHA512 over id, time in milliseconds and body. */
function signature(body: Buffer, request: IncomingMessage, secret: string): Record<string, string> {
  const [id, time] = [String(request.headers['webhook-id']), Date.now().toString()]
  const proof = createHmac('sha512', Buffer.from(secret, 'base64')).update(`${id}.${time}.`).update(body)
  return {
    'x-acme-delivery': id,
    'x-acme-time': time,
    'x-acme-proof': `sha512=${proof.digest('hex')}`,
    'x-request-id': createHmac('sha256', id).update(time).digest('hex'),
  }
}

async function deliver(url: string, body: Buffer, headers: Record<string, string>): Promise<number> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'Acme-Hooks/2.1', ...headers },
    body,
  }).catch(() => null)
  return answer?.status ?? 503
}

/** The newest first, as our service lists them. */
async function allDeposits(serviceUrl: string, { headers }: IncomingMessage): Promise<DepositRecord[]> {
  const records: DepositRecord[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = new URLSearchParams({ limit: '100', ...(cursor !== '' && { cursor }) }).toString()
    const answer = await fetch(`${serviceUrl}/v1/proxies/deposits?${query}`, {
      headers: { 'x-api-key': String(headers['x-api-key']) },
    })
    const page = (await answer.json()) as { data: DepositRecord[]; next_cursor: string | null }
    records.push(...page.data)
    cursor = page.next_cursor
  }
  return records
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
