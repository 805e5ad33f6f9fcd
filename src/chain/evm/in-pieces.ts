import type { Limit } from '../refusals.ts'
import type { HeightRange } from '../types.ts'
import {
  giveUp,
  isSettled,
  type LogSpan,
  nextStep,
  noteAccepted,
  noteRefused,
  type SpanStep,
} from './range-planner.ts'

/** The result of one piece, with the log count of its fullest answer; or the limit for which the node refused it. */
export type PieceReading<Result> = { logs: number; result: Result } | Limit

type PieceReadOptions<Result> = {
  range: HeightRange
  /** Updated while reading. */
  span: LogSpan
  /** An answer with this many logs may be truncated. */
  logsMax: number
  /** Pieces in flight at once. */
  atOnce: number
  /** Reads the first piece alone, to learn how much there is and how much is enough. */
  isFirstAlone?: boolean
  /** Throws if the node fails, or refuses even a single block. */
  read: (piece: HeightRange, step: SpanStep) => Promise<PieceReading<Result>>
  /** Called with the start of the next piece: if true, enough was read and no further piece starts. */
  isEnough: (next: bigint) => boolean
}

/**
 * Reads a range in consecutive pieces, several at once, each as large as the node accepts. A refused piece is split,
 * and its parts are read before anything above them, so that there is no gap below `reached`.
 * @returns results in the order of the heights. After the first failure no further piece starts, and the failure is
 * thrown.
 */
export async function readInPieces<Result>(
  work: PieceReadOptions<Result>,
): Promise<{ results: Result[]; reached: bigint }> {
  const { span, atOnce, logsMax } = work
  const found: { from: bigint; result: Result }[] = []
  const queue = queueOf(work)
  const underWay = new Set<Promise<void>>()
  const state = { hasFailed: false, isFirst: work.isFirstAlone === true }
  const start = (planned: PlannedPiece): void => {
    const run = readPiece(work, { planned, found, queue, state }).finally(() => underWay.delete(run))
    underWay.add(run)
  }
  for (;;) {
    while (underWay.size < (state.isFirst || !isSettled(span, logsMax) ? 1 : atOnce)) {
      const planned = queue.take()
      if (planned === null) break
      start(planned)
    }
    if (underWay.size === 0) break
    await Promise.race(underWay)
  }
  const results = found
    .toSorted((left, right) => (left.from < right.from ? -1 : 1))
    .map(({ result }) => result)
  return { results, reached: queue.reached() }
}

type PieceReadContext<Result> = {
  planned: PlannedPiece
  found: { from: bigint; result: Result }[]
  queue: ReturnType<typeof queueOf>
  state: { hasFailed: boolean; isFirst: boolean }
}

async function readPiece<Result>(
  { span, logsMax, read }: PieceReadOptions<Result>,
  { planned: { piece, step }, found, queue, state }: PieceReadContext<Result>,
): Promise<void> {
  try {
    const reading = await read(piece, step)
    // Other pieces may still be in flight after a failure; their results are discarded.
    if (state.hasFailed) return
    if ('result' in reading) {
      noteAccepted(span, step, reading.logs)
      found.push({ from: piece.from, result: reading.result })
    } else {
      noteRefused(span, step, { limit: reading, logsMax })
      queue.giveBack(piece, reading)
    }
  } catch (error) {
    state.hasFailed = true
    giveUp(span)
    throw error
  } finally {
    state.isFirst = false
    if (step.isTrial) span.onTrial = false
  }
}

type PlannedPiece = { piece: HeightRange; step: SpanStep }

/** The pieces that remain to be read, lowest first. */
function queueOf({
  range,
  span,
  logsMax,
  isEnough,
}: Pick<PieceReadOptions<never>, 'range' | 'span' | 'logsMax' | 'isEnough'>) {
  const returned: HeightRange[] = []
  let next = range.from
  return {
    take(): PlannedPiece | null {
      const open = returned.pop() ?? (next > range.to || isEnough(next) ? null : { from: next, to: range.to })
      if (open === null) return null
      const step = nextStep(span, open.to - open.from + 1n, logsMax)
      const piece = { from: open.from, to: open.from + step.blocks - 1n }
      if (open.from === next) next = piece.to + 1n
      else if (piece.to < open.to) returned.push({ from: piece.to + 1n, to: open.to })
      return { piece, step }
    },
    /** Splits a piece in two: as many blocks as the node offered, or half of them, and the rest. */
    giveBack({ from, to }: HeightRange, { blocks }: Limit): void {
      const half = (to - from + 1n) / 2n
      const lower = blocks !== null && blocks <= to - from ? blocks : half
      returned.push({ from: from + lower, to }, { from, to: from + lower - 1n })
    },
    reached: () => next - 1n,
  }
}
