import type { HeightRange } from '../port.ts'
import { isSettled, type LogSpan, nextStep, noteRefused, noteTaken, type Step } from './log-span.ts'
import type { Limit } from './range-limit.ts'

/** What one piece gave, with how many logs the fullest of its answers held; or why the node would not read it. */
export type PieceReading<Result> = { logs: number; result: Result } | Limit

type Work<Result> = {
  range: HeightRange
  /** Learned from as it goes. */
  span: LogSpan
  /** An answer with so many logs may have been cut off. */
  logsMax: number
  /** Pieces under way at once. */
  atOnce: number
  /** By the first piece whoever asks learns how much there is to come, and when it is enough. */
  isFirstAlone?: boolean
  /** Throws where even one block is refused. */
  read: (piece: HeightRange, step: Step) => Promise<PieceReading<Result>>
  /** Told where the next piece would begin: true where enough was read, and none is begun. */
  isEnough: (next: bigint) => boolean
}

/**
 * Reads a range in pieces that follow on each other, several at once, each as large as the node takes. A refused piece
 * is cut and its parts are read before anything above them, so that what was read has no gap below `reached`.
 * @returns in the order of the heights. The first failure starts no further piece, and is thrown.
 */
export async function readInPieces<Result>(
  work: Work<Result>,
): Promise<{ results: Result[]; reached: bigint }> {
  const { span, atOnce, read, logsMax } = work
  const found: { from: bigint; result: Result }[] = []
  const queue = queueOf(work)
  let failed = false
  const one = async (): Promise<boolean> => {
    const taken = failed ? null : queue.take()
    if (taken === null) return false
    const { piece, step } = taken
    const reading = await read(piece, step).finally(() => {
      if (step.isTrial) span.onTrial = false
    })
    if ('result' in reading) {
      noteTaken(span, step, reading.logs)
      found.push({ from: piece.from, result: reading.result })
    } else {
      noteRefused(span, step, { limit: reading, logsMax })
      queue.giveBack(piece, reading)
    }
    return true
  }
  const lane = async (until: () => boolean): Promise<void> => {
    while (!until() && (await one()));
  }
  if (work.isFirstAlone === true) await one()
  await lane(() => isSettled(span, logsMax))
  const lanes = Array.from({ length: atOnce }, () => lane(() => false))
  await Promise.all(lanes).catch((error: unknown) => {
    failed = true
    throw error
  })
  const results = found
    .toSorted((left, right) => (left.from < right.from ? -1 : 1))
    .map(({ result }) => result)
  return { results, reached: queue.reached() }
}

type Taken = { piece: HeightRange; step: Step }

/** Pieces that are still to be read, lowest first. */
function queueOf({
  range,
  span,
  logsMax,
  isEnough,
}: Pick<Work<never>, 'range' | 'span' | 'logsMax' | 'isEnough'>) {
  const returned: HeightRange[] = []
  let next = range.from
  return {
    take(): Taken | null {
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
