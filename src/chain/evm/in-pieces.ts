import type { HeightRange } from '../port.ts'
import type { Limit } from '../refusals.ts'
import {
  giveUp,
  isSettled,
  type LogSpan,
  nextStep,
  noteRefused,
  noteTaken,
  type SpanStep,
} from './range-planner.ts'

/** What one piece gave, with how many logs the fullest of its answers held; or why the node would not read it. */
export type PieceReading<Result> = { logs: number; result: Result } | Limit

type PieceReadOptions<Result> = {
  range: HeightRange
  /** Learned from as it goes. */
  span: LogSpan
  /** An answer with so many logs may have been cut off. */
  logsMax: number
  /** Pieces under way at once. */
  atOnce: number
  /** The first piece shows how much there is to come, and when it is enough. */
  isFirstAlone?: boolean
  /** Throws if the node fails, or refuses even one block. */
  read: (piece: HeightRange, step: SpanStep) => Promise<PieceReading<Result>>
  /** Asked with the beginning of the next piece: true if enough was read, and none is begun. */
  isEnough: (next: bigint) => boolean
}

/**
 * Reads a range in pieces that follow on each other, several at once, each as large as the node takes. A refused piece
 * is cut and its parts are read before anything above them, so that what was read has no gap below `reached`.
 * @returns in the order of the heights. The first failure starts no further piece, and is thrown.
 */
export async function readInPieces<Result>(
  work: PieceReadOptions<Result>,
): Promise<{ results: Result[]; reached: bigint }> {
  const { span, atOnce, logsMax } = work
  const found: { from: bigint; result: Result }[] = []
  const queue = queueOf(work)
  const underWay = new Set<Promise<void>>()
  const state = { hasFailed: false, isFirst: work.isFirstAlone === true }
  const start = (taken: PlannedPiece): void => {
    const run = readPiece(work, { taken, found, queue, state }).finally(() => underWay.delete(run))
    underWay.add(run)
  }
  for (;;) {
    while (underWay.size < (state.isFirst || !isSettled(span, logsMax) ? 1 : atOnce)) {
      const taken = queue.take()
      if (taken === null) break
      start(taken)
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
  taken: PlannedPiece
  found: { from: bigint; result: Result }[]
  queue: ReturnType<typeof queueOf>
  state: { hasFailed: boolean; isFirst: boolean }
}

async function readPiece<Result>(
  { span, logsMax, read }: PieceReadOptions<Result>,
  { taken: { piece, step }, found, queue, state }: PieceReadContext<Result>,
): Promise<void> {
  try {
    const reading = await read(piece, step)
    // The others may still be under way when one has failed; what they find belongs to nobody.
    if (state.hasFailed) return
    if ('result' in reading) {
      noteTaken(span, step, reading.logs)
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

/** Pieces that are still to be read, lowest first. */
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
    /** In two parts: as many blocks as the node offered, or half of them, and the rest. */
    giveBack({ from, to }: HeightRange, { blocks }: Limit): void {
      const half = (to - from + 1n) / 2n
      const lower = blocks !== null && blocks <= to - from ? blocks : half
      returned.push({ from: from + lower, to }, { from, to: from + lower - 1n })
    },
    reached: () => next - 1n,
  }
}
