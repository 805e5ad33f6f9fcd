import { type Hex, numberToHex, type RpcLog } from 'viem'
import type { Address } from '../../core/asset.ts'
import { type Limit, limitIn } from '../refusals.ts'
import type { HeightRange } from '../types.ts'
import { noteCost } from './log-cost.ts'
import { failureOf, refusal } from './node.ts'
import type { EvmScan } from './watch.ts'

/** The contracts that wrote the logs, and the allowed values of each topic; null for any. */
export type LogFilter = { address: readonly Address[]; topics: readonly (Hex | readonly Hex[] | null)[] }

/** A log as a node returns it: fields may be missing. */
export type AnyLog = Partial<RpcLog>

/**
 * Queries logs once.
 * @returns the exceeded limit, if a query of fewer blocks may succeed
 * @throws Fault `remote_failed`, also if the node refuses a single block
 */
export async function readQuery(
  scan: EvmScan,
  piece: HeightRange,
  filter: LogFilter,
): Promise<readonly AnyLog[] | Limit> {
  const { node, bounds } = scan
  const what = `logs of ${piece.from}..${piece.to}`
  const splits = piece.from < piece.to
  // Until the first log query, the latency of other requests is the estimate.
  node.logs.latencyMs ??= node.health.latencyMs
  const startedMs = performance.now()
  const logs = await requestLogs(scan, piece, filter).catch((error: unknown) => {
    const failure = failureOf(error)
    const limit = splits ? limitIn(failure) : null
    if (limit === null) throw refusal(node, what, failure.problem)
    return limit
  })
  if (isLimit(logs)) return logs
  if (!Array.isArray(logs)) throw refusal(node, what, 'the answer is not a list')
  noteCost(node.logs, performance.now() - startedMs, logs.length)
  if (logs.length < bounds.logsPerAnswerMax) return logs.map((log: AnyLog | null) => log ?? {})
  if (splits) return { kind: 'results', blocks: null }
  throw refusal(node, what, 'more logs than one answer can be trusted to hold')
}

function isLimit(answer: unknown): answer is Limit {
  return typeof answer === 'object' && answer !== null && 'kind' in answer
}

function requestLogs({ node }: EvmScan, { from, to }: HeightRange, filter: LogFilter): Promise<unknown> {
  const asked = { ...filter, fromBlock: numberToHex(from), toBlock: numberToHex(to) }
  return node.client.request({ method: 'eth_getLogs', params: [asked as never] })
}
