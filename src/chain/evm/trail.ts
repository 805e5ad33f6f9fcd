import type { BlockMark, HeightRange } from '../types.ts'

const marksMax = 64

/** A gap grows with the distance from the newest block: 64 marks then reach back over 100,000 blocks. */
const gapDivisor = 2n

/** Returning to the beginning of a shorter reading costs little. */
const blocksUnmarked = 64n

/**
 * Each height is half as far again from the end as the one before, so that a change of history can be traced to about
 * its start.
 */
export function markHeights({ from, to }: HeightRange): bigint[] {
  if (to - from < blocksUnmarked) return []
  const heights: bigint[] = []
  for (let distance = 1n; to - distance >= from; distance += distance / gapDivisor || 1n)
    heights.push(to - distance)
  return heights
}

/**
 * Newest first, closer together near `newest`, at most 64. A mark is dropped only if the next older one bridges the
 * gap; otherwise none would grow old.
 */
export function extendTrail(newest: BlockMark, marks: readonly BlockMark[]): BlockMark[] {
  const below = marks.filter(({ height }) => height < newest.height)
  const kept: BlockMark[] = []
  let last = newest
  for (const [place, mark] of below.entries()) {
    const older = below[place + 1]
    const bridged =
      older !== undefined && (last.height - older.height) * gapDivisor <= newest.height - last.height
    if (bridged) continue
    kept.push(mark)
    last = mark
  }
  return kept.slice(0, marksMax)
}
