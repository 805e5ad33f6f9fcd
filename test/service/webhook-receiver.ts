import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'

type TakenWebhook = { headers: IncomingHttpHeaders; body: string }

/** A real endpoint that keeps what it is sent. */
export type WebhookReceiver = {
  url: string
  /** Null leaves the sender waiting. */
  answerWith(status: number | null): void
  /** What arrived since this was last asked. */
  taken(): TakenWebhook[]
  stop(): Promise<void>
}

export async function startReceiver(): Promise<WebhookReceiver> {
  let status: number | null = 204
  const kept: TakenWebhook[] = []
  const server = createServer((request, response) => {
    const keep = async (): Promise<void> => {
      kept.push({ headers: request.headers, body: await text(request) })
      if (status !== null) response.writeHead(status).end()
    }
    keep().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('a server that listens has an address')
  return {
    url: `http://127.0.0.1:${bound.port}/hook`,
    answerWith: (next) => {
      status = next
    },
    taken: () => kept.splice(0),
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
