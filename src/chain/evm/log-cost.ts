import { type LogSpan, newLogSpan, usualBlocks } from './range-planner.ts'

/**
 * `recipients`: only logs to watched addresses, a part of them per query. `contracts`: all logs of the watched
 * contracts, filtered here.
 */
export type LogStrategy = 'recipients' | 'contracts'

export type LogMemory = {
  /** `senders`: movements of watched addresses. */
  spans: Record<LogStrategy | 'senders', LogSpan>
  transfersPerBlock: number | null
  /** In block ranges read by recipient. */
  sinceMeasured: number
}

/** `blocksMax` is small if the strategy is only measured. */
export type LogQueryChoice = { strategy: LogStrategy; blocksMax: bigint | null }

type LogWorkload = { blocks: bigint; queries: number; logsMax: number }

const measuredBlocks = 200n
const measureEvery = 100

/** What a request, and each log in its answer, usually takes. */
const msPerRequest = 100
const msPerLog = 0.02

export function newLogMemory(): LogMemory {
  return {
    spans: { recipients: newLogSpan(), contracts: newLogSpan(), senders: newLogSpan() },
    transfersPerBlock: null,
    sinceMeasured: 0,
  }
}

/**
 * Chooses by the density of the contracts' logs, which is measured now and then. If one query covers all recipients
 * there is no choice, since it returns fewer logs.
 */
export function chooseLogStrategy(memory: LogMemory, range: LogWorkload): LogQueryChoice {
  if (range.queries <= 1) return { strategy: 'recipients', blocksMax: null }
  shareLimit(memory)
  const { contracts, recipients } = memory.spans
  const isCheaper = costMs(contracts, { ...range, queries: 1 }) <= costMs(recipients, range)
  if (contracts.density !== null && isCheaper) return { strategy: 'contracts', blocksMax: null }
  if (contracts.density !== null && ++memory.sinceMeasured < measureEvery)
    return { strategy: 'recipients', blocksMax: null }
  memory.sinceMeasured = 0
  return { strategy: 'contracts', blocksMax: measuredBlocks }
}

/** A node's block limit mostly does not depend on the filter. */
function shareLimit({ spans: { contracts, recipients } }: LogMemory): void {
  for (const [known, unknown] of [[contracts, recipients] as const, [recipients, contracts] as const]) {
    if (unknown.accepted > 0n || unknown.ceiling !== null || known.ceiling === null) continue
    Object.assign(unknown, { accepted: known.accepted, ceiling: { ...known.ceiling } })
  }
}

function costMs(span: LogSpan, { blocks, queries, logsMax }: LogWorkload): number {
  const density = span.density ?? 0
  const width = Math.max(1, Math.min(Number(usualBlocks(span)), density === 0 ? Infinity : logsMax / density))
  const logs = Number(blocks) * density
  return queries * (Math.ceil(Number(blocks) / width) * msPerRequest + logs * msPerLog)
}
