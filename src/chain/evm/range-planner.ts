import { highest, lowest } from '../heights.ts'
import type { Limit } from '../refusals.ts'

/**
 * How many blocks one kind of log query may span on one node. Callers take a size from `nextStep` and report with
 * `noteAccepted`, `noteRefused` and `giveUp`; the planner itself reads nothing.
 *
 * - A query is as wide as the widest accepted one, or narrower if answers become full.
 * - A refusal starts a search. Queries then run one at a time: first as wide as the node offers, otherwise one block,
 *   which distinguishes a failing node from a range that is too wide; then half of the refused width, and half of that.
 * - The first narrower query that is accepted ends the search, and the refused width becomes the ceiling. If one block
 *   fails as well, the node has failed: the search is dropped and nothing is learned.
 * - A ceiling is tried again after some queries below it. If it is accepted, the range grows; if not, the next trial
 *   comes after four times as many queries.
 */
export type LogSpan = {
  /** 0 before the first answer. */
  accepted: bigint
  ceiling: Ceiling | null
  /** A refusal that no narrower query has explained yet. */
  search: SpanSearch | null
  /** Logs per block; null before the first answer. */
  density: number | null
  /** Only one query at a time tries a larger range, so that all queries in flight do not meet the limit. */
  onTrial: boolean
}

type Ceiling = {
  blocks: bigint
  /** Null once it was tried. */
  named: bigint | null
  /** The node refused too many blocks, so the customary limits are tried. */
  isExplained: boolean
  refusedAgain: number
  acceptedSince: number
}

type SpanSearch = Pick<Ceiling, 'blocks' | 'named' | 'isExplained'> & {
  /** The node itself does not fail. */
  isChecked: boolean
}

/** A trial requests more than the node is known to accept. */
export type SpanStep = { blocks: bigint; isTrial: boolean }

/** Limits of known providers make a search short and exact. */
const customaryLimits = [
  1, 2, 5, 10, 20, 30, 50, 64, 100, 128, 200, 250, 256, 300, 400, 500, 512, 800, 1000, 1024, 1500, 2000, 2048,
  2500, 3000, 3500, 4000, 5000, 10_000, 20_000, 50_000, 100_000,
].map(BigInt)

/** The widest common limit; nodes with a lower one mostly name it. */
const firstBlocks = 10_000n

/** Below 1 because blocks differ. */
const fullness = 0.7

/** Applies even if answers are empty. */
const blocksByDensityMax = 1_000_000

const newestWeight = 0.5

/** Queries before a ceiling is tried again. A node that explained its limit seldom changes it. */
const retryAfter = { unexplained: 4, explained: 1024 }
const retryAfterMax = 4096

export function newLogSpan(): LogSpan {
  return { accepted: 0n, ceiling: null, search: null, density: null, onTrial: false }
}

/** Until then queries run one at a time. */
export function isSettled(span: LogSpan, logsMax: number): boolean {
  const { accepted, ceiling, search } = span
  if (search !== null || accepted === 0n) return false
  if (ceiling === null) return accepted >= firstBlocks || mostByDensity(span, logsMax) < firstBlocks
  return below(ceiling, accepted) === null
}

/** A trial counts as in flight from then on. */
export function nextStep(span: LogSpan, left: bigint, logsMax: number): SpanStep {
  const most = lowest(left, mostByDensity(span, logsMax))
  const trial = trialOf(span)
  if (trial === null || (isSettled(span, logsMax) && trial > most))
    return { blocks: lowest(most, usualBlocks(span)), isTrial: false }
  span.onTrial = true
  return { blocks: lowest(most, trial), isTrial: true }
}

export function noteAccepted(span: LogSpan, step: SpanStep, logs: number): void {
  const { blocks } = step
  const density = logs / Number(blocks)
  span.density = span.density === null ? density : span.density + (density - span.density) * newestWeight
  if (span.search !== null) settleSearch(span, span.search, step)
  if (span.search === null && blocks > span.accepted) span.accepted = blocks
  const { ceiling, accepted } = span
  if (ceiling === null) return
  if (ceiling.blocks <= accepted) span.ceiling = raised(ceiling)
  else if (blocks >= accepted) ceiling.acceptedSince++
}

/** If the query held too much, the blocks are denser than estimated. */
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

/** Used if the node fails with any query. */
export function giveUp(span: LogSpan): void {
  span.search = null
}

export function usualBlocks({ accepted, ceiling }: LogSpan): bigint {
  return ceiling === null && accepted < firstBlocks ? firstBlocks : highest(accepted, 1n)
}

function settleSearch(span: LogSpan, search: SpanSearch, { blocks, isTrial }: SpanStep): void {
  const { blocks: refused, isExplained, named } = search
  // The same number was accepted elsewhere: the cause was these blocks, or chance.
  if (blocks >= refused) span.search = null
  else if (!isTrial || (blocks === 1n && needsCheck(span, search))) search.isChecked = true
  else {
    const isAgain = span.ceiling?.blocks === refused
    const refusedAgain = isAgain ? (span.ceiling?.refusedAgain ?? 0) + 1 : 0
    span.ceiling = { blocks: refused, named, isExplained, refusedAgain, acceptedSince: 0 }
    if (span.accepted >= refused) span.accepted = blocks
    span.search = null
  }
}

/** A single block must show whether the node itself fails, except below a width known to be accepted. */
function needsCheck({ accepted }: LogSpan, { blocks, isExplained, isChecked }: SpanSearch): boolean {
  return !isExplained && !isChecked && blocks > 2n && (accepted === 0n || accepted >= blocks)
}

function raised({ blocks, isExplained }: Ceiling): Ceiling | null {
  const next = blocks * 2n
  if (isExplained || next > firstBlocks) return null
  return { blocks: next, named: null, isExplained, refusedAgain: 0, acceptedSince: 0 }
}

function mostByDensity({ density }: LogSpan, logsMax: number): bigint {
  // Each empty answer halves the density; once it is tiny, the quotient is Infinity.
  const blocks = Math.min(blocksByDensityMax, Math.floor((logsMax * fullness) / (density ?? 0)))
  return highest(1n, BigInt(blocks))
}

function trialOf(span: LogSpan): bigint | null {
  const { accepted, ceiling, search, onTrial } = span
  if (search !== null) return searched(span, search)
  if (onTrial) return null
  if (ceiling === null) return accepted < firstBlocks ? firstBlocks : middle(accepted, null)
  const { isExplained, refusedAgain, acceptedSince } = ceiling
  const first = isExplained ? retryAfter.explained : retryAfter.unexplained
  const isDue = acceptedSince >= Math.min(retryAfterMax, first * 4 ** refusedAgain)
  return isDue ? ceiling.blocks : below(ceiling, accepted)
}

function searched(span: LogSpan, search: SpanSearch): bigint {
  const { blocks, isExplained } = search
  const floor = span.accepted < blocks ? span.accepted : 0n
  if (needsCheck(span, search)) return 1n
  const inBetween = isExplained ? below(search, floor) : null
  return inBetween ?? highest(floor, highest(1n, blocks / 2n))
}

/** The named number, otherwise the median of the customary limits that are still possible. */
function below(
  { blocks, named, isExplained }: Omit<SpanSearch, 'isChecked'>,
  accepted: bigint,
): bigint | null {
  if (named !== null) return named > accepted && named < blocks ? named : null
  return isExplained ? middle(accepted, blocks) : null
}

function middle(accepted: bigint, refused: bigint | null): bigint | null {
  const open = customaryLimits.filter((blocks) => blocks > accepted && (refused === null || blocks < refused))
  return open[Math.floor(open.length / 2)] ?? null
}
