import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** `journal`: the number of the journal that proves the event, or null. `at`: in milliseconds since 1970. */
export type Arrival = { sequence: number; journal: string | null; at: number }
/** Without the first. */
export type EventRange = { from: number; to: number }
export type ReceiverMessage = { url: string } | { arrivals: Arrival[] }

/** An endpoint of events in a process of its own: it verifies each, and hands over what came of a range. */

const key = Buffer.from((process.argv[2] ?? '').replace('whsec_', ''), 'base64')
const arrivals: Arrival[] = []
const server = createServer((request, response) => void receive(request, response))
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  send({ url: `http://127.0.0.1:${port}/events` })
})
process.on('message', ({ from, to }: EventRange) =>
  send({ arrivals: arrivals.filter(({ sequence }) => sequence > from && sequence <= to) }),
)
process.once('disconnect', () => process.exit(0))

function send(message: ReceiverMessage): void {
  process.send?.(message)
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  const at = Date.now()
  if (!isSigned(request, body)) return void response.writeHead(401).end()
  const { sequence, data } = JSON.parse(body) as { sequence: string; data: { journal?: string } }
  arrivals.push({ sequence: Number(sequence), journal: data.journal ?? null, at })
  response.writeHead(204).end()
}

function isSigned({ headers }: IncomingMessage, body: string): boolean {
  const content = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.')
  const expected = Buffer.from(`v1,${createHmac('sha256', key).update(content).digest('base64')}`)
  const presented = Buffer.from(String(headers['webhook-signature']))
  return presented.length === expected.length && timingSafeEqual(presented, expected)
}
