import type { Hex, RpcLog } from 'viem'
import { mapBounded } from '../map-bounded.ts'
import type { HeightRange } from '../port.ts'
import type { PieceReading } from './in-pieces.ts'
import type { LogWay } from './log-cost.ts'
import { type LogFilter, readQuery } from './log-query.ts'
import { refusal } from './node.ts'
import type { Step } from './range-planner.ts'
import { emittersOf, parseTransfer, type TransferLog, topicOf, transferTopic } from './transfer-log.ts'
import type { EvmScan } from './watch.ts'

/** The recipients that each query of a piece names; null for a query that names none. */
export type LogQueries = readonly (readonly Hex[] | null)[]

/** What the queries of a piece found; `heard` tells of each block which contracts wrote any Transfer in it. */
export type PieceLogs = { transfers: TransferLog[]; heard: ReadonlyMap<bigint, ReadonlySet<string>> }

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
 * Reads every watched Transfer of a piece, or tells why the node would not.
 * @throws Fault `remote_failed` also where it would not for one block alone
 */
export async function readLogs(
  scan: EvmScan,
  queries: LogQueries,
  { piece, step }: { piece: HeightRange; step: Step },
): Promise<PieceReading<PieceLogs>> {
  // Whether the node takes so many blocks at all shows in one query as well as in all of them.
  const first = await readQuery(scan, piece, filterOf(scan, queries[0] ?? null))
  if ('kind' in first) return first
  const atOnce = step.isTrial ? 1 : scan.bounds.requestsAtOnce
  const others = await mapBounded(queries.slice(1), atOnce, (query) =>
    readQuery(scan, piece, filterOf(scan, query)),
  )
  const answers: (readonly RpcLog[])[] = [first]
  for (const answer of others) {
    if ('kind' in answer) return answer
    answers.push(answer)
  }
  const logs = answers.flat()
  const transfers = logs.flatMap((log) => accept(scan, piece, log))
  return {
    logs: Math.max(...answers.map(({ length }) => length)),
    result: {
      transfers: [...new Map(transfers.map((log) => [`${log.height}/${log.logIndex}`, log])).values()],
      heard: heardIn(logs),
    },
  }
}

function filterOf({ watch }: EvmScan, recipients: readonly Hex[] | null): LogFilter {
  const topics = recipients === null ? [transferTopic] : [transferTopic, null, recipients]
  return { address: emittersOf(watch), topics }
}

function accept({ node, watch }: EvmScan, range: HeightRange, log: RpcLog): TransferLog[] {
  const what = `logs of ${range.from}..${range.to}`
  if (log.removed)
    throw refusal(node, what, `log ${log.logIndex} of ${log.transactionHash} is marked as removed`)
  const found = parseTransfer(watch, log)
  if (found === 'malformed') throw refusal(node, what, `a log of ${log.address} has an odd form`)
  if (found === null) return []
  if (found.height < range.from || found.height > range.to) {
    throw refusal(node, what, `it answered with a log of block ${found.height}`)
  }
  return [found]
}

function heardIn(logs: readonly RpcLog[]): Map<bigint, Set<string>> {
  const heard = new Map<bigint, Set<string>>()
  for (const { blockNumber, address } of logs) {
    const height = BigInt(blockNumber ?? -1)
    const emitters = heard.get(height) ?? new Set()
    heard.set(height, emitters.add(address.toLowerCase()))
  }
  return heard
}
