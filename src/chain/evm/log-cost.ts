import { type LogSpan, newLogSpan, usualBlocks } from './range-planner.ts'

/**
 * How the logs of a stretch are asked for. `recipients`: only those to watched addresses, a part of these in each
 * query. `contracts`: all of the watched contracts, of which those to watched addresses are picked here.
 */
export type LogWay = 'recipients' | 'contracts'

/** What was learned of a node's log queries. */
export type LogMemory = {
  /** `senders`: those by which movements of watched addresses are read. */
  spans: Record<LogWay | 'senders', LogSpan>
  /** Of an answer with little in it; null while none was measured. */
  latencyMs: number | null
  msPerLog: number
  /** Of those that count, in what was read last; null while nothing was. */
  transfersPerBlock: number | null
  /** Stretches read since the other way was last tried. */
  sinceTried: number
}

/** The way to read a stretch, and over how many blocks at most: few, where that way is only to be measured. */
export type LogQueryChoice = { way: LogWay; blocksMax: bigint | null }

type LogWorkload = { blocks: bigint; queries: number; logsMax: number }

/** Blocks by which a way is measured, and how many stretches are read in between. */
const measuredBlocks = 200n
const measureEvery = 100

const latencyByDefaultMs = 100
/** However near the node is, a request costs quota, and work at both ends. */
const requestMsMin = 25
const msPerLogByDefault = 0.02
const newestShare = 0.2
/** An answer with so many logs counts as much for what a log costs as what was believed before. */
const logsWeighed = 5000
/** An answer with fewer logs tells of the way to the node and back, one with more of what a log costs. */
const fewLogs = 50

export function newLogMemory(): LogMemory {
  return {
    spans: { recipients: newLogSpan(), contracts: newLogSpan(), senders: newLogSpan() },
    latencyMs: null,
    msPerLog: msPerLogByDefault,
    transfersPerBlock: null,
    sinceTried: 0,
  }
}

/**
 * Chooses by what requests and logs were measured to cost. With one query for all recipients there is nothing to
 * choose, since the same request then brings fewer logs. What was not measured lately is believed to bring no logs at
 * all, and is measured where that would make it the cheaper way.
 */
export function chooseWay(memory: LogMemory, stretch: LogWorkload): LogQueryChoice {
  if (stretch.queries <= 1) return { way: 'recipients', blocksMax: null }
  shareLimit(memory)
  const { contracts, recipients } = memory.spans
  if (contracts.density === null) return { way: 'contracts', blocksMax: measuredBlocks }
  const costs = {
    contracts: costMs(memory, 'contracts', { ...stretch, perBlock: contracts.density }),
    recipients: costMs(memory, 'recipients', { ...stretch, perBlock: recipients.density ?? 0 }),
  }
  const way = costs.contracts <= costs.recipients ? 'contracts' : 'recipients'
  const other = way === 'contracts' ? 'recipients' : 'contracts'
  if (memory.spans[way].density === null) return { way, blocksMax: measuredBlocks }
  memory.sinceTried++
  const mayBeCheaper = costMs(memory, other, { ...stretch, perBlock: 0 }) < costs[way]
  if (memory.sinceTried < measureEvery || !mayBeCheaper) return { way, blocksMax: null }
  memory.sinceTried = 0
  return { way: other, blocksMax: measuredBlocks }
}

/** How many blocks a query may span a node mostly decides without looking at the rest of it. */
function shareLimit({ spans: { contracts, recipients } }: LogMemory): void {
  for (const [known, unknown] of [[contracts, recipients] as const, [recipients, contracts] as const]) {
    if (unknown.taken > 0n || unknown.ceiling !== null || known.ceiling === null) continue
    Object.assign(unknown, { taken: known.taken, ceiling: { ...known.ceiling } })
  }
}

/** Learns from one answer, the more of what a log costs the more of them it holds: the rest of its time is chance. */
export function noteCost(memory: LogMemory, ms: number, logs: number): void {
  if (logs < fewLogs) {
    memory.latencyMs = smoothed(memory.latencyMs, ms, newestShare)
    return
  }
  const perLog = Math.max(0, ms - (memory.latencyMs ?? latencyByDefaultMs)) / logs
  memory.msPerLog = smoothed(memory.msPerLog, perLog, logs / (logs + logsWeighed))
}

function costMs(
  { latencyMs, msPerLog, spans }: LogMemory,
  way: LogWay,
  { blocks, queries, logsMax, perBlock }: LogWorkload & { perBlock: number },
): number {
  const span = Math.max(
    1,
    Math.min(Number(usualBlocks(spans[way])), perBlock === 0 ? Infinity : logsMax / perBlock),
  )
  const times = way === 'recipients' ? queries : 1
  const requests = times * Math.ceil(Number(blocks) / span)
  // The density of a way is that of one of its queries.
  const logs = times * Number(blocks) * perBlock
  return requests * Math.max(requestMsMin, latencyMs ?? latencyByDefaultMs) + logs * msPerLog
}

function smoothed(before: number | null, newest: number, share: number): number {
  return before === null ? newest : before + (newest - before) * share
}
