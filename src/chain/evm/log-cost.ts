import { type LogSpan, newLogSpan, usualBlocks } from './range-planner.ts'

/**
 * `recipients`: only logs to watched addresses, a part of them per query. `contracts`: all logs of the watched
 * contracts, filtered here.
 */
export type LogStrategy = 'recipients' | 'contracts'

export type LogMemory = {
  /** `senders`: movements of watched addresses. */
  spans: Record<LogStrategy | 'senders', LogSpan>
  /** Of an answer with few logs; null before the first measurement. */
  latencyMs: number | null
  msPerLog: number
  transfersPerBlock: number | null
  /** In block ranges. */
  sinceTried: number
}

/** `blocksMax` is small if the strategy is only measured. */
export type LogQueryChoice = { strategy: LogStrategy; blocksMax: bigint | null }

type LogWorkload = { blocks: bigint; queries: number; logsMax: number }

const measuredBlocks = 200n
const measureEvery = 100

const latencyByDefaultMs = 100
/** Even a request to a nearby node takes quota and work on both sides. */
const requestMsMin = 25
const msPerLogByDefault = 0.02
const newestWeight = 0.2
/** An answer with this many logs weighs as much as the previous estimate. */
const logsWeighed = 5000
/** Below this, an answer measures the latency; above, the cost per log. */
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
 * Chooses by measured cost. If one query covers all recipients there is no choice, since it returns fewer logs. A
 * strategy without a recent measurement is tried if it would be cheaper without any logs.
 */
export function chooseLogStrategy(memory: LogMemory, range: LogWorkload): LogQueryChoice {
  if (range.queries <= 1) return { strategy: 'recipients', blocksMax: null }
  shareLimit(memory)
  const { contracts, recipients } = memory.spans
  if (contracts.density === null) return { strategy: 'contracts', blocksMax: measuredBlocks }
  const costs = {
    contracts: costMs(memory, 'contracts', { ...range, perBlock: contracts.density }),
    recipients: costMs(memory, 'recipients', { ...range, perBlock: recipients.density ?? 0 }),
  }
  const strategy = costs.contracts <= costs.recipients ? 'contracts' : 'recipients'
  const other = strategy === 'contracts' ? 'recipients' : 'contracts'
  if (memory.spans[strategy].density === null) return { strategy, blocksMax: measuredBlocks }
  memory.sinceTried++
  const mayBeCheaper = costMs(memory, other, { ...range, perBlock: 0 }) < costs[strategy]
  if (memory.sinceTried < measureEvery || !mayBeCheaper) return { strategy, blocksMax: null }
  memory.sinceTried = 0
  return { strategy: other, blocksMax: measuredBlocks }
}

/** A node's block limit mostly does not depend on the filter. */
function shareLimit({ spans: { contracts, recipients } }: LogMemory): void {
  for (const [known, unknown] of [[contracts, recipients] as const, [recipients, contracts] as const]) {
    if (unknown.accepted > 0n || unknown.ceiling !== null || known.ceiling === null) continue
    Object.assign(unknown, { accepted: known.accepted, ceiling: { ...known.ceiling } })
  }
}

/** The more logs an answer holds, the more it weighs: the rest of its time is chance. */
export function noteCost(memory: LogMemory, ms: number, logs: number): void {
  if (logs < fewLogs) {
    memory.latencyMs = smoothed(memory.latencyMs, ms, newestWeight)
    return
  }
  const perLog = Math.max(0, ms - (memory.latencyMs ?? latencyByDefaultMs)) / logs
  memory.msPerLog = smoothed(memory.msPerLog, perLog, logs / (logs + logsWeighed))
}

function costMs(
  { latencyMs, msPerLog, spans }: LogMemory,
  strategy: LogStrategy,
  { blocks, queries, logsMax, perBlock }: LogWorkload & { perBlock: number },
): number {
  const span = Math.max(
    1,
    Math.min(Number(usualBlocks(spans[strategy])), perBlock === 0 ? Infinity : logsMax / perBlock),
  )
  const times = strategy === 'recipients' ? queries : 1
  const requests = times * Math.ceil(Number(blocks) / span)
  const logs = times * Number(blocks) * perBlock
  return requests * Math.max(requestMsMin, latencyMs ?? latencyByDefaultMs) + logs * msPerLog
}

function smoothed(before: number | null, newest: number, share: number): number {
  return before === null ? newest : before + (newest - before) * share
}
