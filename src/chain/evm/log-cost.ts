import { type LogSpan, newLogSpan, usualBlocks } from './log-span.ts'

/**
 * How the logs of a stretch are asked for. `recipients`: only those to watched addresses, a part of these in each
 * query. `contracts`: all of the watched contracts, of which those to watched addresses are picked here.
 */
export type LogWay = 'recipients' | 'contracts'

/** What was learned of a node's log queries. */
export type LogMemory = {
  spans: Record<LogWay, LogSpan>
  /** Of an answer with little in it; null while none was measured. */
  latencyMs: number | null
  msPerLog: number | null
  /** Stretches read since the other way was last tried. */
  sinceTried: number
}

/** The way to read a stretch, and over how many blocks at most: few, where that way is only to be measured. */
export type Choice = { way: LogWay; blocksMax: bigint | null }

type Stretch = { blocks: bigint; queries: number; logsMax: number }

/** Blocks by which a way is measured, and how many stretches are read in between. */
const measuredBlocks = 200n
const measureEvery = 100

const latencyByDefaultMs = 100
const msPerLogByDefault = 0.02
const newestShare = 0.2
/** An answer with fewer logs tells of the way to the node and back, one with more of what a log costs. */
const fewLogs = 50

export function newLogMemory(): LogMemory {
  return {
    spans: { recipients: newLogSpan(), contracts: newLogSpan() },
    latencyMs: null,
    msPerLog: null,
    sinceTried: 0,
  }
}

/**
 * Chooses by what requests and logs were measured to cost. With one query for all recipients there is nothing to
 * choose, since the same request then brings fewer logs. Both ways are measured, and the dearer again now and then.
 */
export function chooseWay(memory: LogMemory, stretch: Stretch): Choice {
  if (stretch.queries <= 1) return { way: 'recipients', blocksMax: null }
  const unmeasured = (['contracts', 'recipients'] as const).find((way) => memory.spans[way].density === null)
  if (unmeasured !== undefined) return { way: unmeasured, blocksMax: measuredBlocks }
  const isContracts = costMs(memory, 'contracts', stretch) <= costMs(memory, 'recipients', stretch)
  const [cheaper, dearer]: LogWay[] = isContracts ? ['contracts', 'recipients'] : ['recipients', 'contracts']
  memory.sinceTried++
  if (memory.sinceTried < measureEvery || dearer === undefined || cheaper === undefined)
    return { way: cheaper ?? 'contracts', blocksMax: null }
  memory.sinceTried = 0
  return { way: dearer, blocksMax: measuredBlocks }
}

/** Learns from one answer. */
export function noteCost(memory: LogMemory, ms: number, logs: number): void {
  if (logs < fewLogs) memory.latencyMs = smoothed(memory.latencyMs, ms)
  else memory.msPerLog = smoothed(memory.msPerLog, Math.max(0, ms - (memory.latencyMs ?? 0)) / logs)
}

function costMs(memory: LogMemory, way: LogWay, { blocks, queries, logsMax }: Stretch): number {
  const { latencyMs, msPerLog, spans } = memory
  const perBlock = spans[way].density ?? 0
  const span = Math.max(
    1,
    Math.min(Number(usualBlocks(spans[way])), perBlock === 0 ? Infinity : logsMax / perBlock),
  )
  const times = way === 'recipients' ? queries : 1
  const requests = times * Math.ceil(Number(blocks) / span)
  // The density of a way is that of one of its queries.
  const logs = times * Number(blocks) * perBlock
  return requests * (latencyMs ?? latencyByDefaultMs) + logs * (msPerLog ?? msPerLogByDefault)
}

function smoothed(before: number | null, newest: number): number {
  return before === null ? newest : before + (newest - before) * newestShare
}
