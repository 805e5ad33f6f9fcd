import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

export type Seen = {
  method: string
  path: string
  key: string | null
  /** Null where there is none. */
  body: Record<string, unknown> | null
}

export type Given = { status: number; body: unknown }

/** A way to break a service: what reaches it, and what comes of it. */
export type Alteration = {
  request?: (seen: Seen) => Seen | Given
  answer?: (given: Given, seen: Seen) => Given | string
}

export type AlteringProxy = AsyncDisposable & { url: string }

/** Stands in front of a service and breaks it. */
export async function startAlteringProxy(target: string, alteration: Alteration): Promise<AlteringProxy> {
  const answerTo = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const altered = await pass(target, alteration, await readSeen(request))
    const isText = typeof altered === 'string'
    response.writeHead(isText ? 200 : altered.status, { 'content-type': 'application/json' })
    response.end(isText ? altered : JSON.stringify(altered.body))
  }
  const server = createServer((request, response) => void answerTo(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const bound = server.address()
  const port = bound !== null && typeof bound === 'object' ? bound.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function readSeen(request: IncomingMessage): Promise<Seen> {
  const body = await text(request)
  const key = request.headers['x-api-key']
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    key: typeof key === 'string' ? key : null,
    body: body === '' ? null : (JSON.parse(body) as Record<string, unknown>),
  }
}

async function pass(
  target: string,
  { request = (seen) => seen, answer = (given) => given }: Alteration,
  seen: Seen,
): Promise<Given | string> {
  const passed = request(seen)
  if ('status' in passed) return passed
  const response = await fetch(target + passed.path, {
    method: passed.method,
    headers: {
      ...(passed.key === null ? {} : { 'X-API-KEY': passed.key }),
      ...(passed.body === null ? {} : { 'content-type': 'application/json' }),
    },
    ...(passed.body === null ? {} : { body: JSON.stringify(passed.body) }),
  })
  return answer({ status: response.status, body: await response.json() }, seen)
}
