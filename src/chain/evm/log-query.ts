import { type Hex, numberToHex, type RpcLog } from 'viem'
import type { Address } from '../../core/asset.ts'
import type { HeightRange } from '../port.ts'
import { type Limit, limitIn } from '../refusals.ts'
import { noteCost } from './log-cost.ts'
import { failureOf, refusal } from './node.ts'
import type { EvmScan } from './watch.ts'

/** Who wrote the logs, and what each of their topics may be; null for any. */
export type LogFilter = { address: readonly Address[]; topics: readonly (Hex | readonly Hex[] | null)[] }

/** A log as a node writes it: fields may be missing. */
export type AnyLog = Partial<RpcLog>

/**
 * Asks for logs once.
 * @returns the limit that they are above, if fewer blocks may pass
 * @throws Fault `remote_failed` also if the node would not answer for one block alone
 */
export async function readQuery(
  scan: EvmScan,
  piece: HeightRange,
  filter: LogFilter,
): Promise<readonly AnyLog[] | Limit> {
  const { node, bounds } = scan
  const what = `logs of ${piece.from}..${piece.to}`
  const splits = piece.from < piece.to
  // Before the first log query it is known what any request takes.
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
