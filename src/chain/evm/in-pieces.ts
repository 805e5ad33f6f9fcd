import { ascending } from '../heights.ts'
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

/** The log count is that of the fullest answer. */
export type PieceReading<Result> = { logs: number; result: Result } | Limit

type PieceReadOptions<Result> = {
  range: HeightRange
  span: LogSpan
  /** An answer with this many logs may be truncated. */
  logsMax: number
  atOnce: number
  /** The first piece shows how much there is and how much is enough. */
  isFirstAlone?: boolean
  /** Throws if the node fails, or refuses a single block. */
  read: (piece: HeightRange, step: SpanStep) => Promise<PieceReading<Result>>
  /** If true for the start of the next piece, no further piece starts. */
  isEnough: (next: bigint) => boolean
}

/**
 * Reads consecutive pieces, several at once. The parts of a refused piece are read before anything above it, so that
 * there is no gap below `reached`. After a failure no further piece starts, and the failure is thrown.
 * @returns results in the order of the heights
 */
export async function readInPieces<Result>(
  work: PieceReadOptions<Result>,
): Promise<{ results: Result[]; reached: bigint }> {
  const { span, atOnce, logsMax, read } = work
  const found: { from: bigint; result: Result }[] = []
  const queue = queueOf(work)
  const underWay = new Set<Promise<void>>()
  let hasFailed = false
  let isFirst = work.isFirstAlone === true
  const readPiece = async ({ piece, step }: PlannedPiece): Promise<void> => {
    try {
      const reading = await read(piece, step)
      // Pieces in flight after a failure are discarded.
      if (hasFailed) return
      if ('result' in reading) {
        noteAccepted(span, step, reading.logs)
        found.push({ from: piece.from, result: reading.result })
      } else {
        noteRefused(span, step, { limit: reading, logsMax })
        queue.giveBack(piece, reading)
      }
    } catch (error) {
      hasFailed = true
      giveUp(span)
      throw error
    } finally {
      isFirst = false
      if (step.isTrial) span.onTrial = false
    }
  }
  for (;;) {
    while (underWay.size < (isFirst || !isSettled(span, logsMax) ? 1 : atOnce)) {
      const planned = queue.take()
      if (planned === null) break
      const run = readPiece(planned).finally(() => underWay.delete(run))
      underWay.add(run)
    }
    if (underWay.size === 0) break
    await Promise.race(underWay)
  }
  const inOrder = found.toSorted((left, right) => ascending(left.from, right.from))
  return { results: inOrder.map(({ result }) => result), reached: queue.reached() }
}

type PlannedPiece = { piece: HeightRange; step: SpanStep }

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
    /** Splits at the number of blocks that the node offered, otherwise in half. */
    giveBack({ from, to }: HeightRange, { blocks }: Limit): void {
      const half = (to - from + 1n) / 2n
      const lower = blocks !== null && blocks <= to - from ? blocks : half
      returned.push({ from: from + lower, to }, { from, to: from + lower - 1n })
    },
    reached: () => next - 1n,
  }
}
