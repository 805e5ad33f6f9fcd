import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type EvmNode, openNode } from '../../src/chain/evm/node.ts'
import { connections, type ReaderBounds } from '../../src/chain/options.ts'
import type { NetworkName } from '../../src/core/asset.ts'

export type RawCall = { jsonrpc: string; id: number; method: string; params?: readonly unknown[] }
/** One call, or several at once. */
export type RawDocument = RawCall | readonly RawCall[]

/** Writes an answer, or anything else, to what was asked. */
export type RawScript = (response: ServerResponse, asked: RawDocument) => void

export type RawNode = {
  url: string
  /** What was asked, one entry for each HTTP request. */
  asked: RawDocument[]
  behave(script: RawScript): void
  stop(): Promise<void>
}

/** A server whose answers are written byte by byte, for what no JSON-RPC server of a library would say. */
export async function startRawNode(): Promise<RawNode> {
  const asked: RawDocument[] = []
  let script: RawScript = answersEach
  const server = createServer((request, response) => {
    const answer = async () => {
      const document = JSON.parse(await text(request)) as RawDocument
      asked.push(document)
      script(response, document)
    }
    answer().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    behave: (next) => {
      script = next
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Answers every call with its own number. */
export const answersEach: RawScript = (response, asked) => {
  response.end(JSON.stringify(isSeveral(asked) ? asked.map(numbered) : numbered(asked)))
}

function numbered({ id }: RawCall): object {
  return { jsonrpc: '2.0', id, result: `0x${id.toString(16)}` }
}

/** Says always the same. */
export const says =
  (body: string, status = 200, headers: Record<string, string> = {}): RawScript =>
  (response) =>
    response.writeHead(status, headers).end(body)

/** Answers one call with its id and no more than is given. */
export const withId =
  (change: object): RawScript =>
  (response, asked) =>
    response.end(JSON.stringify({ jsonrpc: '2.0', id: isSeveral(asked) ? 0 : asked.id, ...change }))

/** A connection to the server, of which `told` has every request with its outcome. Its URL holds a key. */
export function openRawNode(
  { url }: RawNode,
  { bounds, reported }: { bounds: Partial<ReaderBounds>; reported: string[] },
): EvmNode {
  const settings = {
    name: 'base' as NetworkName,
    family: 'evm' as const,
    chainId: 1,
    rpcUrls: [`${url}/v3/secret-key`],
    assets: [],
  }
  const [connection] = connections(settings, {
    bounds: { quotaWaitMs: 0, ...bounds },
    observe: ({ method, outcome }) => reported.push(`${method} ${outcome}`),
  })
  if (connection === undefined) throw new Error('there is a connection for each URL')
  return openNode(connection)
}

export function isSeveral(asked: RawDocument): asked is readonly RawCall[] {
  return Array.isArray(asked)
}
