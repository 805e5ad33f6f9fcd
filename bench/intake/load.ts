import { createHmac, createSecretKey } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Requests that are ready to be written, each whole. */
export type Prepared = readonly Buffer[]

type Preparing = { url: string; secret: string; prefix: string; count: number; bodyBytes: number }

export function prepare({ prefix, count, bodyBytes, ...to }: Preparing): Prepared {
  const webhooks = Array.from({ length: count }, (_, number) => {
    const id = `${prefix}_${number}`
    return { id, body: bodyOf(id, bodyBytes) }
  })
  return prepareEach(webhooks, to)
}

/** Signs requests as a Standard Webhooks sender does, so that signing costs nothing while time is taken. */
export function prepareEach(
  webhooks: readonly { id: string; body: string }[],
  { url, secret }: Pick<Preparing, 'url' | 'secret'>,
): Prepared {
  const { pathname, host } = new URL(url)
  const key = createSecretKey(Buffer.from(secret.replace('whsec_', ''), 'base64'))
  const timestamp = Math.floor(Date.now() / 1000)
  return webhooks.map(({ id, body }) => {
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
    const head = [
      `POST ${pathname} HTTP/1.1`,
      `host: ${host}`,
      'content-type: application/json',
      'user-agent: bench/1',
      `content-length: ${Buffer.byteLength(body)}`,
      `webhook-id: ${id}`,
      `webhook-timestamp: ${timestamp}`,
      `webhook-signature: v1,${signature}`,
    ]
    return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
  })
}

/** A document of exactly that many bytes. */
export function bodyOf(id: string, bytes: number): string {
  const start = `{"id":"${id}","type":"deposit.settled","created_at":"2026-11-20T12:00:00Z","data":{"note":"`
  return `${start}${'x'.repeat(Math.max(0, bytes - start.length - 3))}"}}`
}

export type Sent = {
  count: number
  seconds: number
  /** Of each request, from its first byte to the last of its answer. */
  latenciesMs: Float64Array
  /** Answers by status. */
  statuses: Map<string, number>
}

export type Sending = {
  connections: number
  /** After this long no further request begins. */
  secondsMax: number
}

/** Sends requests over so many connections, each with one under way, until none is left or the time is over. */
export async function send(
  url: string,
  requests: Prepared,
  { connections, secondsMax }: Sending,
): Promise<Sent> {
  const port = Number(new URL(url).port)
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(port, '127.0.0.1').setNoDelay(true)
      await once(socket, 'connect')
      return socket
    }),
  )
  const latenciesMs = new Float64Array(requests.length)
  const statuses = new Map<string, number>()
  let next = 0
  const startedAt = performance.now()
  const endsAt = startedAt + secondsMax * 1000
  await Promise.all(
    sockets.map((socket) =>
      drive(socket, (status, sentAt) => {
        if (sentAt !== null) {
          latenciesMs[sentAt.number] = performance.now() - sentAt.at
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
        const request = performance.now() < endsAt ? requests[next] : undefined
        return request === undefined ? null : { request, number: next++ }
      }),
    ),
  )
  const seconds = (performance.now() - startedAt) / 1000
  for (const socket of sockets) socket.destroy()
  return { count: next, seconds, latenciesMs: latenciesMs.subarray(0, next), statuses }
}

type Underway = { at: number; number: number }
type Answered = (status: string, sent: Underway | null) => { request: Buffer; number: number } | null

/** Writes a request, waits for its whole answer, and goes on until there is none left. */
function drive(socket: Socket, answered: Answered): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    let sent: Underway | null = null
    const sendNext = (status: string) => {
      const following = answered(status, sent)
      if (following === null) return resolve()
      sent = { at: performance.now(), number: following.number }
      socket.write(following.request)
    }
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const headEnd = text.indexOf('\r\n\r\n')
      if (headEnd < 0) return
      const [, length = '0'] = /content-length: (\d+)/i.exec(text) ?? []
      if (text.length < headEnd + 4 + Number(length)) return
      const status = text.slice(9, 12)
      text = ''
      sendNext(status)
    })
    socket.once('error', reject).once('close', () => reject(new Error('the server closed a connection')))
    sendNext('')
  })
}
