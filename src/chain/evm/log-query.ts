import { type Hex, numberToHex, type RpcLog } from 'viem'
import type { Address } from '../../core/asset.ts'
import { isFault } from '../../core/errors.ts'
import type { HeightRange } from '../port.ts'
import { noteCost } from './log-cost.ts'
import { ask, refusal } from './node.ts'
import { type Limit, limitOf } from './range-limit.ts'
import type { EvmScan } from './watch.ts'

/** Who wrote the logs, and what each of their topics may be; null for any. */
export type LogFilter = { address: readonly Address[]; topics: readonly (Hex | readonly Hex[] | null)[] }

/**
 * Asks for logs once.
 * @returns the limit that they are above, where fewer blocks may pass
 * @throws Fault `remote_failed` also where the node would not answer for one block alone
 */
export async function readQuery(
  scan: EvmScan,
  piece: HeightRange,
  filter: LogFilter,
): Promise<readonly RpcLog[] | Limit> {
  const splits = piece.from < piece.to
  // Before the first log query it is known what any request takes.
  scan.node.logs.latencyMs ??= scan.node.health.latencyMs
  const startedMs = performance.now()
  try {
    const logs = await requestLogs(scan, piece, filter)
    noteCost(scan.node.logs, performance.now() - startedMs, logs.length)
    if (logs.length < scan.bounds.logsPerAnswerMax) return logs
  } catch (error) {
    const limit = isFault(error, 'remote_failed') ? limitOf(error.details.problem) : null
    if (!splits || limit === null) throw error
    return limit
  }
  if (splits) return { kind: 'results', blocks: null }
  throw refusal(scan.node, `logs of block ${piece.from}`, 'more logs than one answer can be trusted to hold')
}

async function requestLogs(
  { node }: EvmScan,
  { from, to }: HeightRange,
  filter: LogFilter,
): Promise<readonly RpcLog[]> {
  const what = `logs of ${from}..${to}`
  const asked = { ...filter, fromBlock: numberToHex(from), toBlock: numberToHex(to) }
  const logs: unknown = await ask(node, what, (client) =>
    client.request({ method: 'eth_getLogs', params: [asked as never] }),
  )
  if (!Array.isArray(logs)) throw refusal(node, what, 'the answer is not a list')
  return logs as RpcLog[]
}
