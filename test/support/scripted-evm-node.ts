import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { type ScriptedChain, seededRandom } from './scripted-evm-chain.ts'

/** What a node does that none should, or that every public one does. All of it may be changed while it runs. */
export type Behaviour = {
  /** The newest block it has, and the newest it calls final: null where it knows of none. */
  head: number
  final: number | null
  latencyMs: number
  /** Log queries over more blocks than that, or with more results, are refused in a provider's words. */
  blocksMax: number | null
  resultsMax: number | null
  /** How a query over too many blocks is refused; in a provider's words if null. */
  refusal: Refusal | null
  /** Of a hundred requests, so many are answered with 429. */
  quotaPercent: number
  /** Answers log queries as a node that has only the blocks up to there; null where it has all. */
  logsUpTo: number | null
  lie: 'empty_logs' | 'missing_log' | 'removed_log' | 'foreign_hash' | 'wrong_chain' | null
  /** How an answer is sent: byte by byte without end, cut off, or as more than anybody can hold. */
  body: 'whole' | 'dripped' | 'truncated' | 'huge'
}

/** An error that is stated, a page with a status, or no answer at all. */
export type Refusal =
  | { error: { code: number; message: string } }
  | { status: number; page: string }
  | 'hangs'

export type ScriptedEvmNode = {
  url: string
  behaviour: Behaviour
  /** Calls by method, and HTTP requests that were answered, and refused for their number. */
  asked: Map<string, number>
  requests: { answered: number; refused: number }
  stop(): Promise<void>
}

export const scriptedChainId = 8453

type Call = { id: number | string; method: string; params?: readonly unknown[] }

export async function startScriptedEvmNode(
  chain: ScriptedChain,
  changes: Partial<Behaviour> = {},
): Promise<ScriptedEvmNode> {
  const behaviour: Behaviour = { ...behavesWell(chain), ...changes }
  const asked = new Map<string, number>()
  const requests = { answered: 0, refused: 0 }
  const random = seededRandom(chain.blocks + 1)
  const answerTo = (call: Call) => {
    asked.set(call.method, (asked.get(call.method) ?? 0) + 1)
    return `{"jsonrpc":"2.0","id":${JSON.stringify(call.id)},${answer(chain, behaviour, call)}}`
  }
  const server = createServer((request, response) => {
    const serve = async () => {
      const calls = JSON.parse(await text(request)) as Call | Call[]
      if (behaviour.latencyMs > 0) await wait(behaviour.latencyMs)
      if (random() * 100 < behaviour.quotaPercent) {
        requests.refused++
        response.writeHead(429, { 'content-type': 'application/json' })
        response.end('{"jsonrpc":"2.0","id":null,"error":{"code":429,"message":"Too Many Requests"}}')
        return
      }
      requests.answered++
      if (!Array.isArray(calls) && isTooWide(behaviour, calls) && behaviour.refusal !== null) {
        answerTo(calls)
        refuse(response, calls, behaviour.refusal)
        return
      }
      const body = Array.isArray(calls) ? `[${calls.map(answerTo).join()}]` : answerTo(calls)
      await send(response, body, behaviour.body)
    }
    serve().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    behaviour,
    asked,
    requests,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export function behavesWell(chain: ScriptedChain): Behaviour {
  return {
    head: chain.blocks - 1,
    final: chain.blocks - 1,
    latencyMs: 0,
    blocksMax: null,
    resultsMax: null,
    refusal: null,
    quotaPercent: 0,
    logsUpTo: null,
    lie: null,
    body: 'whole',
  }
}

function isTooWide({ blocksMax }: Behaviour, { method, params = [] }: Call): boolean {
  if (method !== 'eth_getLogs' || blocksMax === null) return false
  const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
  return Number(toBlock) - Number(fromBlock) + 1 > blocksMax
}

function refuse(response: ServerResponse, { id }: Call, refusal: Refusal): void {
  if (refusal === 'hangs') return
  if ('page' in refusal) response.writeHead(refusal.status, { 'content-type': 'text/html' }).end(refusal.page)
  else response.end(JSON.stringify({ jsonrpc: '2.0', id, error: refusal.error }))
}

/** The rest of the JSON object that answers a call. */
function answer(chain: ScriptedChain, behaviour: Behaviour, { method, params = [] }: Call): string {
  switch (method) {
    case 'eth_chainId':
      return `"result":"0x${(behaviour.lie === 'wrong_chain' ? 1 : scriptedChainId).toString(16)}"`
    case 'eth_getBlockByNumber': {
      const height = heightOf(behaviour, params[0] as string)
      return `"result":${height === null || height > behaviour.head ? 'null' : JSON.stringify(chain.block(height))}`
    }
    case 'eth_getBlockReceipts':
      return `"result":${chain.receipts(Number(params[0]))}`
    case 'eth_getLogs':
      return logsAnswer(chain, behaviour, params[0] as Parameters<ScriptedChain['logs']>[0])
    default:
      return `"error":{"code":-32601,"message":"the method ${method} does not exist"}`
  }
}

function heightOf({ head, final }: Behaviour, place: string): number | null {
  if (place === 'latest') return head
  return place === 'finalized' || place === 'safe' ? final : Number(place)
}

function logsAnswer(
  chain: ScriptedChain,
  { blocksMax, resultsMax, logsUpTo, lie }: Behaviour,
  filter: Parameters<ScriptedChain['logs']>[0],
): string {
  const blocks = Number(filter.toBlock) - Number(filter.fromBlock) + 1
  if (blocksMax !== null && blocks > blocksMax)
    return `"error":{"code":-32602,"message":"range ${blocks} exceeds limit of ${blocksMax}"}`
  if (logsUpTo !== null && Number(filter.toBlock) > logsUpTo) return '"result":[]'
  const logs = lie === 'empty_logs' ? [] : chain.logs(filter)
  if (resultsMax !== null && logs.length > resultsMax)
    return `"error":{"code":-32005,"message":"query returned more than ${resultsMax} results"}`
  return `"result":[${lied(chain, logs, lie).join()}]`
}

function lied(chain: ScriptedChain, logs: readonly string[], lie: Behaviour['lie']): readonly string[] {
  if (lie === 'missing_log') return logs.slice(1)
  if (lie === 'removed_log') return logs.map((log) => log.replace('"removed":false', '"removed":true'))
  if (lie !== 'foreign_hash') return logs
  return logs.map((log) => log.replace(/"blockHash":"0x.{64}"/, `"blockHash":"${chain.hashOf(0)}"`))
}

const hugeChunk = Buffer.alloc(1024 * 1024, ' ')

async function send(response: ServerResponse, body: string, how: Behaviour['body']): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' })
  if (how === 'truncated') {
    response.write(body.slice(0, body.length / 2))
    response.destroy()
  } else if (how === 'whole') response.end(body)
  else await sendForEver(response, how === 'huge' ? () => hugeChunk : () => ' ')
}

/** Until whoever asked has had enough. */
async function sendForEver(response: ServerResponse, next: () => Buffer | string): Promise<void> {
  const isSlow = typeof next() === 'string'
  while (!response.destroyed) {
    if (isSlow) await wait(20)
    if (!response.write(next())) await Promise.race([once(response, 'drain'), once(response, 'close')])
  }
}
