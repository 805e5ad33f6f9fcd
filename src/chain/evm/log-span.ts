import type { Limit } from './range-limit.ts'

/** What was learned of how many blocks one kind of log query may span on one node. */
export type LogSpan = {
  /** The most blocks that were taken; 0 while nothing was asked. */
  taken: bigint
  /** The fewest that were refused for their number; null where none were. */
  refused: bigint | null
  /** The number that the node named when it refused, until it was tried. */
  named: bigint | null
  /** Logs per block, lately; null while nothing was asked. */
  density: number | null
  /** One query at a time tries for more, so that a limit is met once and not by all that are under way. Whoever
   * sends it clears this when it is answered. */
  onTrial: boolean
}

/** How many blocks to ask for, and whether that is more than the node is known to take. */
export type Step = { blocks: bigint; isTrial: boolean }

/** Limits that providers are known to set: one of them is found in a few tries, and exactly. */
const customary = [
  1n,
  2n,
  5n,
  10n,
  20n,
  30n,
  50n,
  64n,
  100n,
  128n,
  200n,
  250n,
  256n,
  300n,
  400n,
  500n,
  512n,
  800n,
  1000n,
  1024n,
  1500n,
  2000n,
  2048n,
  2500n,
  3000n,
  3500n,
  4000n,
  5000n,
  10_000n,
  20_000n,
  50_000n,
  100_000n,
] as const

/** The widest limit that is common. Who sets a closer one mostly names it in the refusal. */
const firstBlocks = 10_000n

/** Of the logs that one answer may hold, so many are aimed at, since blocks differ. */
const fullness = 0.7

/** Asked for at most, however empty the answers are. */
const blocksByDensityMax = 1_000_000

/** How much the newest answer counts for the density. */
const newestShare = 0.5

export function newLogSpan(): LogSpan {
  return { taken: 0n, refused: null, named: null, density: null, onTrial: false }
}

/** True once a node showed what it takes: before that, one query at a time is asked. */
export function isSettled(span: LogSpan, logsMax: number): boolean {
  const { taken, refused } = span
  if (refused === null)
    return taken >= firstBlocks || (taken > 0n && mostByDensity(span, logsMax) < firstBlocks)
  return taken > 0n && trialOf({ ...span, onTrial: false }) === null
}

/** The next query, within what is left and what one answer may hold. A trial is under way from then on. */
export function nextStep(span: LogSpan, left: bigint, logsMax: number): Step {
  const most = lowest(left, mostByDensity(span, logsMax))
  const trial = trialOf(span)
  if (trial === null || (isSettled(span, logsMax) && trial > most))
    return { blocks: lowest(most, usualBlocks(span)), isTrial: false }
  span.onTrial = true
  return { blocks: lowest(most, trial), isTrial: true }
}

export function noteTaken(span: LogSpan, { blocks }: Step, logs: number): void {
  if (blocks > span.taken) span.taken = blocks
  if (span.refused !== null && span.refused <= span.taken) span.refused = null
  const density = logs / Number(blocks)
  span.density = span.density === null ? density : span.density + (density - span.density) * newestShare
}

/** Where the answer would have been too large, the blocks are denser than thought; else so many are too many. */
export function noteRefused(span: LogSpan, { blocks }: Step, { limit, logsMax }: Refused): void {
  if (limit.kind === 'results') {
    span.density = Math.max(span.density ?? 0, logsMax / Number(limit.blocks ?? blocks))
    return
  }
  span.named = limit.blocks !== null && limit.blocks < blocks ? limit.blocks : null
  if (span.refused === null || blocks < span.refused) span.refused = blocks
  if (span.taken >= span.refused) span.taken = span.refused - 1n
}

type Refused = { limit: Limit; logsMax: number }

/** What is asked for where nothing is tried. */
export function usualBlocks({ taken, refused }: LogSpan): bigint {
  return refused === null && taken < firstBlocks ? firstBlocks : highest(taken, 1n)
}

function mostByDensity({ density }: LogSpan, logsMax: number): bigint {
  // Halved by each empty answer, a density becomes so small that the quotient is no number any more.
  const blocks = Math.min(blocksByDensityMax, Math.floor((logsMax * fullness) / (density ?? 0)))
  return highest(1n, BigInt(blocks))
}

/** What the node named, else the middle one of the customary limits that are still possible; null where none is. */
function trialOf({ taken, refused, named, onTrial }: LogSpan): bigint | null {
  if (onTrial) return null
  if (taken < firstBlocks && refused === null) return firstBlocks
  const isOpen = (blocks: bigint) => blocks > taken && (refused === null || blocks < refused)
  if (named !== null) return isOpen(named) ? named : null
  const open = customary.filter(isOpen)
  return open[Math.floor(open.length / 2)] ?? null
}

function lowest(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

function highest(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}
