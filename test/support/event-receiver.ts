import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

export type ReceivedEvent = {
  headers: Record<string, string>
  body: string
  id: string
  sequence: number
  deposit: string | null
}

export type EventReceiver = AsyncDisposable & {
  url: string
  /** In the order of their answers. */
  received: ReceivedEvent[]
}

/** Answers with the status that `answer` gives; null for none. */
export async function openEventReceiver(
  answer: (event: ReceivedEvent) => number | null | Promise<number | null> = () => 204,
): Promise<EventReceiver> {
  const received: ReceivedEvent[] = []
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request)
    const { id, sequence, deposit } = JSON.parse(body) as { id: string; sequence: string; deposit: string }
    const headers = request.headers as Record<string, string>
    const event = { headers, body, id, sequence: Number(sequence), deposit }
    const status = await answer(event)
    if (status === null) return
    received.push(event)
    response.writeHead(status).end()
  }
  const server = createServer((request, response) => void take(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server)}/events`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function portOf(server: Server): number {
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('a server that listens has an address')
  return bound.port
}
