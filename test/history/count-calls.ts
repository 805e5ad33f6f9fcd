import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** Before a node or a service: every request reaches it, and is counted. */
export type CallCounter = AsyncDisposable & {
  url: string
  /** JSON-RPC calls by method, each one of a batch; other requests by their path. */
  calls: Map<string, number>
  /** How often each block and each transaction was asked for. */
  seen: Map<string, number>
}

/** Their answers do not change once they are final. */
const lasting =
  /^(?:eth_getBlockByNumber|eth_getTransactionReceipt|eth_getBlockReceipts|getTransaction|getBlock)$/

const heads = new Set(['latest', 'finalized', 'safe'])

function countOne(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

export async function countCalls(target: string): Promise<CallCounter> {
  const [calls, seen] = [new Map<string, number>(), new Map<string, number>()]
  const note = (body: Buffer, path: string): void => {
    if (body.length === 0) countOne(calls, path.split('?')[0] ?? '')
    const asked = body.length === 0 ? [] : [JSON.parse(body.toString()) as unknown].flat()
    for (const { method, params = [] } of asked as { method: string; params?: unknown[] }[]) {
      countOne(calls, method)
      const named = String(params[0])
      if (lasting.test(method) && !heads.has(named)) countOne(seen, `${method} ${named}`)
    }
  }
  const server = createServer((request, response) => {
    const pass = async () => {
      const body = await buffer(request)
      note(body, request.url ?? '')
      const { host: _host, connection: _connection, ...headers } = request.headers as Record<string, string>
      const sent = body.length === 0 ? {} : { body: new Uint8Array(body) }
      const answer = await fetch(new URL(request.url ?? '/', target), {
        method: request.method ?? 'GET',
        headers,
        ...sent,
      })
      const bytes = Buffer.from(await answer.arrayBuffer())
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
      response.end(bytes)
    }
    pass().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export function total({ calls }: CallCounter): number {
  return [...calls.values()].reduce((sum, count) => sum + count, 0)
}
