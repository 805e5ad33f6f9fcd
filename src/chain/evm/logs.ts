import type { Hex, RpcLog } from 'viem'
import { numberToHex } from 'viem/utils'
import type { Address } from '../../core/asset.ts'
import { chunksOf, mapBounded } from '../map-bounded.ts'
import { refusal } from '../pool.ts'
import { type Limit, limitIn } from '../refusals.ts'
import type { HeightRange } from '../types.ts'
import type { PieceReading } from './in-pieces.ts'
import type { LogStrategy } from './log-cost.ts'
import { type EvmScan, failureOf } from './node.ts'
import type { SpanStep } from './range-planner.ts'
import {
  emittersOf,
  isTransfer,
  type OddLog,
  oddLog,
  parseTransfer,
  type TransferLog,
  topicOf,
  transferTopic,
} from './transfer-log.ts'

/** The recipients of each query; null for a query without recipients. */
export type LogQueries = readonly (readonly Hex[] | null)[]

/** `writers`: by block, the contracts that wrote any Transfer. */
export type PieceLogs = {
  transfers: TransferLog[]
  odd: OddLog[]
  writers: ReadonlyMap<bigint, ReadonlySet<string>>
}

export function queryCount({ watch, bounds }: EvmScan): number {
  return emittersOf(watch).length === 0 ? 0 : Math.ceil(watch.recipients.size / bounds.recipientsPerRequest)
}

export function queriesOf({ watch, bounds }: EvmScan, strategy: LogStrategy): LogQueries {
  if (strategy === 'contracts') return [null]
  return chunksOf([...watch.recipients].map(topicOf), bounds.recipientsPerRequest)
}

/**
 * Returns the limit if the node refused the piece.
 * @throws Fault `remote_failed`, also if the node refuses a single block
 */
export async function readLogs(
  scan: EvmScan,
  queries: LogQueries,
  { piece, step }: { piece: HeightRange; step: SpanStep },
): Promise<PieceReading<PieceLogs>> {
  // One query shows whether the node accepts this many blocks.
  const first = await readQuery(scan, piece, filterOf(scan, queries[0] ?? null))
  if ('kind' in first) return first
  const atOnce = step.isTrial ? 1 : scan.bounds.requestsAtOnce
  const others = await mapBounded(queries.slice(1), atOnce, (query) =>
    readQuery(scan, piece, filterOf(scan, query)),
  )
  const answers: (readonly AnyLog[])[] = [first]
  for (const answer of others) {
    if ('kind' in answer) return answer
    answers.push(answer)
  }
  const logs = answers.flat()
  const found = logs.flatMap((log) => accept(scan, piece, log))
  const transfers = found.filter(isTransfer)
  return {
    logs: Math.max(...answers.map(({ length }) => length)),
    result: {
      transfers: [...new Map(transfers.map((log) => [`${log.height}/${log.logIndex}`, log])).values()],
      odd: found.filter((log): log is OddLog => !isTransfer(log)),
      writers: writersByBlock(logs),
    },
  }
}

function filterOf({ watch }: EvmScan, recipients: readonly Hex[] | null): LogFilter {
  const topics = recipients === null ? [transferTopic] : [transferTopic, null, recipients]
  return { address: emittersOf(watch), topics }
}

function accept({ node, watch }: EvmScan, range: HeightRange, log: AnyLog): (TransferLog | OddLog)[] {
  const what = `logs of ${range.from}..${range.to}`
  if (log.removed)
    throw refusal(node, what, `log ${log.logIndex} of ${log.transactionHash} is marked as removed`)
  const found = parseTransfer(watch, log)
  if (found === null) return []
  if (found.height === null) return [found]
  if (found.height < range.from || found.height > range.to) {
    throw refusal(node, what, `the node answered with a log of block ${found.height}`)
  }
  return [found]
}

function writersByBlock(logs: readonly AnyLog[]): Map<bigint, Set<string>> {
  const writers = new Map<bigint, Set<string>>()
  for (const log of logs) {
    const { height, contract } = oddLog(log, 'fields')
    if (height !== null) writers.set(height, (writers.get(height) ?? new Set()).add(contract))
  }
  return writers
}

/** Null allows any topic. */
export type LogFilter = { address: readonly Address[]; topics: readonly (Hex | readonly Hex[] | null)[] }

export type AnyLog = Partial<RpcLog>

/**
 * Returns the exceeded limit if a query of fewer blocks may succeed.
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
  const query = { ...filter, fromBlock: numberToHex(piece.from), toBlock: numberToHex(piece.to) }
  let logs: unknown
  try {
    logs = await node.request({ method: 'eth_getLogs', params: [query as never] })
  } catch (error) {
    const failure = failureOf(error)
    const limit = splits ? limitIn(failure) : null
    if (limit === null) throw refusal(node, what, failure.problem)
    return limit
  }
  if (!Array.isArray(logs)) throw refusal(node, what, 'the answer is not a list')
  if (logs.length < bounds.logsPerAnswerMax) return logs.map((log: AnyLog | null) => log ?? {})
  if (splits) return { kind: 'results', blocks: null }
  throw refusal(node, what, `the answer for one block may be truncated: it holds ${logs.length} logs`)
}
