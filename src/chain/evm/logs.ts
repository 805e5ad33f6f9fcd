import type { Hex, RpcLog } from 'viem'
import { isFault } from '../../core/errors.ts'
import { ask, type EvmNode, refusal } from './node.ts'
import { isRangeLimit } from './range-limit.ts'
import { emittersOf, parseTransfer, type TransferLog, topicOf, transferTopic } from './transfer-log.ts'
import type { EvmScan } from './watch.ts'

type Range = { from: bigint; to: bigint }

/** Reads every watched Transfer of the range, in as many requests as the node's limits ask for. */
export async function readLogs(scan: EvmScan, range: Range): Promise<TransferLog[]> {
  const { watch, bounds } = scan
  if (emittersOf(watch).length === 0) return []
  const recipients = [...watch.recipients]
  const found: TransferLog[] = []
  for (let place = 0; place < recipients.length; place += bounds.recipientsPerRequest) {
    const topics = recipients.slice(place, place + bounds.recipientsPerRequest).map(topicOf)
    found.push(...(await readPieces(scan, range, topics)))
  }
  return [...new Map(found.map((log) => [`${log.height}/${log.logIndex}`, log])).values()]
}

/** Walks the range in pieces that follow on each other: a refused piece is halved, an accepted one moves on. */
async function readPieces(scan: EvmScan, range: Range, topics: readonly Hex[]): Promise<TransferLog[]> {
  const found: TransferLog[] = []
  let span = firstSpan(scan.node, range)
  let from = range.from
  while (from <= range.to) {
    const to = from + span - 1n < range.to ? from + span - 1n : range.to
    const logs = await readPiece(scan, { from, to }, topics)
    if (logs === 'too much') {
      span = (to - from + 1n) / 2n
      scan.node.logSpan = span
    } else {
      found.push(...logs)
      from = to + 1n
      if (scan.node.logSpan !== null && span > scan.node.logSpan) scan.node.logSpan = span
    }
  }
  return found
}

/** Twice of what the node last took, so that a limit that was met in one busy stretch wears off. */
function firstSpan({ logSpan }: EvmNode, { from, to }: Range): bigint {
  const whole = to - from + 1n
  return logSpan === null || logSpan * 2n > whole ? whole : logSpan * 2n
}

async function readPiece(
  scan: EvmScan,
  range: Range,
  topics: readonly Hex[],
): Promise<TransferLog[] | 'too much'> {
  const splits = range.from < range.to
  try {
    const logs = await requestLogs(scan, range, topics)
    if (logs.length < scan.bounds.logsPerAnswerMax) return logs.flatMap((log) => accept(scan, range, log))
  } catch (error) {
    if (!splits || !isFault(error, 'remote_failed') || !isRangeLimit(error.details.problem)) throw error
    return 'too much'
  }
  if (splits) return 'too much'
  throw refusal(scan.node, `logs of block ${range.from}`, 'more logs than one answer can be trusted to hold')
}

async function requestLogs(
  { node, watch }: EvmScan,
  { from, to }: Range,
  topics: readonly Hex[],
): Promise<RpcLog[]> {
  const what = `logs of ${from}..${to}`
  const filter = {
    address: emittersOf(watch) as string[] as Hex[],
    topics: [transferTopic, null, [...topics]],
    fromBlock: `0x${from.toString(16)}` as const,
    toBlock: `0x${to.toString(16)}` as const,
  }
  const logs: unknown = await ask(node, what, (client) =>
    client.request({ method: 'eth_getLogs', params: [filter] }),
  )
  if (!Array.isArray(logs)) throw refusal(node, what, 'the answer is not a list')
  return logs as RpcLog[]
}

function accept({ node, watch }: EvmScan, range: Range, log: RpcLog): TransferLog[] {
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
