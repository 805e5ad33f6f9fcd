import type { Hex } from 'viem'
import { mapBounded } from '../map-bounded.ts'
import type { HeightRange } from '../types.ts'
import type { PieceReading } from './in-pieces.ts'
import type { LogWay } from './log-cost.ts'
import { type AnyLog, type LogFilter, readQuery } from './log-query.ts'
import { refusal } from './node.ts'
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
import type { EvmScan } from './watch.ts'

/** The recipients in each query of a piece; null for a query without recipients. */
export type LogQueries = readonly (readonly Hex[] | null)[]

/** The findings of a piece. `heard` lists, by block, the contracts that wrote any Transfer in it. */
export type PieceLogs = {
  transfers: TransferLog[]
  odd: OddLog[]
  heard: ReadonlyMap<bigint, ReadonlySet<string>>
}

export function queryCount({ watch, bounds }: EvmScan): number {
  return emittersOf(watch).length === 0 ? 0 : Math.ceil(watch.recipients.size / bounds.recipientsPerRequest)
}

export function queriesOf({ watch, bounds }: EvmScan, way: LogWay): LogQueries {
  if (way === 'contracts') return [null]
  const topics = [...watch.recipients].map(topicOf)
  const count = Math.ceil(topics.length / bounds.recipientsPerRequest)
  return Array.from({ length: count }, (_, place) =>
    topics.slice(place * bounds.recipientsPerRequest, (place + 1) * bounds.recipientsPerRequest),
  )
}

/**
 * Reads every watched Transfer of a piece, or returns the limit for which the node refused it.
 * @throws Fault `remote_failed`, also if the node refuses a single block
 */
export async function readLogs(
  scan: EvmScan,
  queries: LogQueries,
  { piece, step }: { piece: HeightRange; step: SpanStep },
): Promise<PieceReading<PieceLogs>> {
  // One query is enough to learn whether the node accepts this many blocks.
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
      heard: heardIn(logs),
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
    throw refusal(node, what, `it answered with a log of block ${found.height}`)
  }
  return [found]
}

function heardIn(logs: readonly AnyLog[]): Map<bigint, Set<string>> {
  const heard = new Map<bigint, Set<string>>()
  for (const log of logs) {
    const { height, contract } = oddLog(log, 'fields')
    if (height !== null) heard.set(height, (heard.get(height) ?? new Set()).add(contract))
  }
  return heard
}
