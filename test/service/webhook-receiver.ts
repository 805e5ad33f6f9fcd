import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'

export type TakenWebhook = { headers: IncomingHttpHeaders; body: string }

/** A real endpoint that keeps what it is sent. */
export type WebhookReceiver = {
  url: string
  /** Null leaves the sender waiting. */
  answerWith(status: number | null, headers?: OutgoingHttpHeaders, answer?: string): void
  /** What arrived since this was last asked. */
  taken(): TakenWebhook[]
  stop(): Promise<void>
}

export async function startReceiver(): Promise<WebhookReceiver> {
  let answering: { status: number | null; headers: OutgoingHttpHeaders; answer: string }
  answering = { status: 204, headers: {}, answer: '' }
  const kept: TakenWebhook[] = []
  const server = createServer((request, response) => {
    const keep = async (): Promise<void> => {
      kept.push({ headers: request.headers, body: await text(request) })
      const { status, headers, answer } = answering
      if (status !== null) response.writeHead(status, headers).end(answer)
    }
    keep().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('a server that listens has an address')
  return {
    url: `http://127.0.0.1:${bound.port}/hook`,
    answerWith: (status, headers = {}, answer = '') => {
      answering = { status, headers, answer }
    },
    taken: () => kept.splice(0),
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
