import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export type Call = { method: string; params: readonly unknown[] }
export type Answer = { status?: number; result?: unknown; error?: { code: number; message: string } }

/** Answers a call, by asking the real node or not. */
export type Script = (call: Call, forward: () => Promise<Answer>) => Answer | Promise<Answer>

/** A JSON-RPC server before a real node that lies as its script says. */
export type RpcProxy = {
  url: string
  /** What was asked, in order. */
  calls: Call[]
  /** Replaces the script; without one every answer is the node's own. */
  behave(script?: Script): void
  stop(): Promise<void>
}

export async function startRpcProxy(nodeUrl: string): Promise<RpcProxy> {
  const calls: Call[] = []
  let script: Script = honest
  const server = createServer((request, response) => {
    const answer = async () => {
      const { id, ...asked } = JSON.parse(await text(request)) as Partial<Call> & { id: number }
      const call: Call = { method: '', params: [], ...asked }
      calls.push(call)
      const { status = 200, ...body } = await script(call, () => forwardTo(nodeUrl, call))
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }))
    }
    answer().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    behave: (next = honest) => {
      script = next
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The node itself. */
export const honest: Script = (_call, forward) => forward()

/** No log query finds anything. */
export const hidesLogs: Script = async ({ method }, forward) =>
  method === 'eth_getLogs' ? { result: [] } : forward()

/** Too many requests, said by the status. */
export const refusesByStatus: Script = () => ({
  status: 429,
  error: { code: 429, message: 'Too Many Requests' },
})

/** Too many requests, said by the code that elsewhere means too many results. */
export const refusesByCode: Script = ({ method }, forward) =>
  method === 'eth_getLogs'
    ? { error: { code: -32005, message: 'daily request count exceeded, request rate limited' } }
    : forward()

/** Refuses log queries over more blocks than that, in a provider's words. */
export function limitsRange(blocksMax: bigint): Script {
  return ({ method, params }, forward) => {
    const [filter] = params as [{ fromBlock: string; toBlock: string }]
    const wide = method === 'eth_getLogs' && BigInt(filter.toBlock) - BigInt(filter.fromBlock) >= blocksMax
    return wide ? { error: { code: -32600, message: `exceed maximum block range: ${blocksMax}` } } : forward()
  }
}

/** Lacks the blocks above a height from its first log query on, as another server behind one address would. */
export function lagsBehind(height: bigint): Script {
  let lags = false
  return async ({ method, params }, forward) => {
    lags ||= method === 'eth_getLogs'
    if (!lags) return forward()
    if (method === 'eth_getLogs') return { result: [] }
    if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return forward()
    const { result } = await forward()
    return { result: { ...(result as object), number: `0x${height.toString(16)}` } }
  }
}

/** Changes what one method answers. */
export function changes(wanted: string, change: (result: unknown) => unknown): Script {
  return async ({ method }, forward) => {
    const answer = await forward()
    return method === wanted ? { ...answer, result: change(answer.result) } : answer
  }
}

type Fields = Record<string, unknown>

export function inEachLog(change: Fields): Script {
  return changes('eth_getLogs', (logs) => (logs as Fields[]).map((log) => ({ ...log, ...change })))
}

export function inEachBlock(change: Fields): Script {
  return changes('eth_getBlockByNumber', (block) => ({ ...(block as Fields), ...change }))
}

/** As on chains whose blocks keep no log filter. */
export const lacksFilters = inEachBlock({ logsBloom: `0x${'00'.repeat(256)}` })

/** No log query finds anything, and no block betrays it. */
export const lacksLogs: Script = (call, forward) =>
  call.method === 'eth_getLogs' ? { result: [] } : lacksFilters(call, forward)

async function forwardTo(url: string, call: Call): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...call }),
  })
  const { result, error } = (await response.json()) as Answer
  return error === undefined ? { result } : { error }
}
