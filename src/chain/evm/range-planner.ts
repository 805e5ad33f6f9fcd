import type { Limit } from '../refusals.ts'

/**
 * How many blocks one kind of log query may span on one node. It is asked for `nextStep`, learns from `noteTaken`,
 * `noteRefused` and `giveUp`, and reads nothing itself.
 *
 * - A query is as wide as the widest that was taken, or narrower where answers grow full.
 * - A refusal opens a search. Queries then go one at a time: as wide as the node offers, else one block, which tells a
 *   node that fails from a range that is too wide, then half of what was refused, and half of that.
 * - The first narrower query that is taken ends the search, and what was refused becomes the ceiling. If one block
 *   fails as well, the node has failed: the search is dropped and nothing was learned.
 * - A ceiling is tried again after some queries below it. If it is taken then, the range grows; if not, it is left
 *   alone for four times as many.
 */
export type LogSpan = {
  /** The most blocks that were taken; 0 before the first answer. */
  taken: bigint
  /** A number of blocks that is not asked for, for now. */
  ceiling: Ceiling | null
  /** What was refused and is not explained by a narrower query yet. */
  search: SpanSearch | null
  /** Logs per block, lately; null before the first answer. */
  density: number | null
  /** One query at a time tries for more, so that a limit is met once and not by all that are under way. */
  onTrial: boolean
}

type Ceiling = {
  blocks: bigint
  /** The number that the node named when it refused, until it was tried. */
  named: bigint | null
  /** The node said that it was the number of blocks: the customary limits below it are tried. */
  isExplained: boolean
  /** How often it was refused again, and how many of the widest queries were taken since. */
  refusedAgain: number
  takenSince: number
}

type SpanSearch = Pick<Ceiling, 'blocks' | 'named' | 'isExplained'> & {
  /** One block was taken: it is not the node that fails. */
  isChecked: boolean
}

/** How many blocks to ask for, and whether that is more than the node is known to take. */
export type SpanStep = { blocks: bigint; isTrial: boolean }

/** Limits that providers are known to set: one of them is found in a few tries, and exactly. */
const customary = [
  1, 2, 5, 10, 20, 30, 50, 64, 100, 128, 200, 250, 256, 300, 400, 500, 512, 800, 1000, 1024, 1500, 2000, 2048,
  2500, 3000, 3500, 4000, 5000, 10_000, 20_000, 50_000, 100_000,
].map(BigInt)

/** The widest limit that is common. A node that sets a closer one mostly names it when it refuses. */
const firstBlocks = 10_000n

/** Of the logs that one answer may hold, so many are aimed at, since blocks differ. */
const fullness = 0.7

/** Asked for at most, however empty the answers are. */
const blocksByDensityMax = 1_000_000

/** How much the newest answer counts for the density. */
const newestShare = 0.5

/** Queries before a ceiling is tried again: a node that explained its limit seldom changes it. */
const retryAfter = { unexplained: 4, explained: 1024 }
const retryAfterMax = 4096

export function newLogSpan(): LogSpan {
  return { taken: 0n, ceiling: null, search: null, density: null, onTrial: false }
}

/** True once a node showed what it takes: before that, one query at a time is asked. */
export function isSettled(span: LogSpan, logsMax: number): boolean {
  const { taken, ceiling, search } = span
  if (search !== null || taken === 0n) return false
  if (ceiling === null) return taken >= firstBlocks || mostByDensity(span, logsMax) < firstBlocks
  return below(ceiling, taken) === null
}

/** The next query, within what is left and what one answer may hold. A trial is under way from then on. */
export function nextStep(span: LogSpan, left: bigint, logsMax: number): SpanStep {
  const most = lowest(left, mostByDensity(span, logsMax))
  const trial = trialOf(span)
  if (trial === null || (isSettled(span, logsMax) && trial > most))
    return { blocks: lowest(most, usualBlocks(span)), isTrial: false }
  span.onTrial = true
  return { blocks: lowest(most, trial), isTrial: true }
}

export function noteTaken(span: LogSpan, step: SpanStep, logs: number): void {
  const { blocks } = step
  const density = logs / Number(blocks)
  span.density = span.density === null ? density : span.density + (density - span.density) * newestShare
  if (span.search !== null) settleSearch(span, span.search, step)
  if (span.search === null && blocks > span.taken) span.taken = blocks
  const { ceiling, taken } = span
  if (ceiling === null) return
  if (ceiling.blocks <= taken) span.ceiling = raised(ceiling)
  else if (blocks >= taken) ceiling.takenSince++
}

/** Learns why a query was refused. One that held too much says that the blocks are denser than was thought. */
export function noteRefused(span: LogSpan, { blocks }: SpanStep, { limit, logsMax }: SpanRefusal): void {
  if (limit.kind === 'results') {
    span.density = Math.max(span.density ?? 0, logsMax / Number(limit.blocks ?? blocks))
    return
  }
  span.search = {
    blocks: span.search === null ? blocks : lowest(blocks, span.search.blocks),
    named: limit.blocks !== null && limit.blocks < blocks ? limit.blocks : null,
    isExplained: limit.kind === 'blocks',
    isChecked: span.search?.isChecked === true,
  }
}

type SpanRefusal = { limit: Limit; logsMax: number }

/** Forgets what was refused but not explained: the node fails, whatever it is asked. */
export function giveUp(span: LogSpan): void {
  span.search = null
}

/** What is asked for when nothing is tried. */
export function usualBlocks({ taken, ceiling }: LogSpan): bigint {
  return ceiling === null && taken < firstBlocks ? firstBlocks : highest(taken, 1n)
}

function settleSearch(span: LogSpan, search: SpanSearch, { blocks, isTrial }: SpanStep): void {
  const { blocks: refused, isExplained, named } = search
  // As many blocks passed elsewhere: it was these blocks, or chance, and not their number.
  if (blocks >= refused) span.search = null
  else if (!isTrial || (blocks === 1n && needsCheck(span, search))) search.isChecked = true
  else {
    const isAgain = span.ceiling?.blocks === refused
    const refusedAgain = isAgain ? (span.ceiling?.refusedAgain ?? 0) + 1 : 0
    span.ceiling = { blocks: refused, named, isExplained, refusedAgain, takenSince: 0 }
    if (span.taken >= refused) span.taken = blocks
    span.search = null
  }
}

/** What was known to pass passes still, as far as is known. */
function needsCheck({ taken }: LogSpan, { blocks, isExplained, isChecked }: SpanSearch): boolean {
  return !isExplained && !isChecked && blocks > 2n && (taken === 0n || taken >= blocks)
}

function raised({ blocks, isExplained }: Ceiling): Ceiling | null {
  const next = blocks * 2n
  if (isExplained || next > firstBlocks) return null
  return { blocks: next, named: null, isExplained, refusedAgain: 0, takenSince: 0 }
}

function mostByDensity({ density }: LogSpan, logsMax: number): bigint {
  // Halved by each empty answer, a density becomes so small that the quotient is no number any more.
  const blocks = Math.min(blocksByDensityMax, Math.floor((logsMax * fullness) / (density ?? 0)))
  return highest(1n, BigInt(blocks))
}

/** Null when nothing is to be tried. */
function trialOf(span: LogSpan): bigint | null {
  const { taken, ceiling, search, onTrial } = span
  if (search !== null) return searched(span, search)
  if (onTrial) return null
  if (ceiling === null) return taken < firstBlocks ? firstBlocks : middle(taken, null)
  const { isExplained, refusedAgain, takenSince } = ceiling
  const first = isExplained ? retryAfter.explained : retryAfter.unexplained
  const isDue = takenSince >= Math.min(retryAfterMax, first * 4 ** refusedAgain)
  return isDue ? ceiling.blocks : below(ceiling, taken)
}

function searched(span: LogSpan, search: SpanSearch): bigint {
  const { blocks, isExplained } = search
  const floor = span.taken < blocks ? span.taken : 0n
  if (needsCheck(span, search)) return 1n
  const inBetween = isExplained ? below(search, floor) : null
  return inBetween ?? highest(floor, highest(1n, blocks / 2n))
}

/** What the node named, else the middle one of the customary limits that are still possible. */
function below({ blocks, named, isExplained }: Omit<SpanSearch, 'isChecked'>, taken: bigint): bigint | null {
  if (named !== null) return named > taken && named < blocks ? named : null
  return isExplained ? middle(taken, blocks) : null
}

function middle(taken: bigint, refused: bigint | null): bigint | null {
  const open = customary.filter((blocks) => blocks > taken && (refused === null || blocks < refused))
  return open[Math.floor(open.length / 2)] ?? null
}

function lowest(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

function highest(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}
