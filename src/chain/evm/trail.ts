import type { BlockMark, HeightRange } from '../types.ts'

const marksMax = 64

/** A gap may be as wide as half its distance from the newest block: 64 marks then reach back over 100,000 blocks. */
const gapDivisor = 2n

/** A shorter reading leaves only its end as a mark: returning to its beginning costs little. */
const blocksUnmarked = 64n

/**
 * Heights of a reading whose hashes are stored, so that a later change of history can be traced back to about its
 * start. Each is half as far again from the end as the one before.
 */
export function markHeights({ from, to }: HeightRange): bigint[] {
  if (to - from < blocksUnmarked) return []
  const heights: bigint[] = []
  for (let distance = 1n; to - distance >= from; distance += distance / gapDivisor || 1n)
    heights.push(to - distance)
  return heights
}

/**
 * Marks below `newest`, newest first: close together near it, far apart further back, at most 64. A mark is dropped
 * only if the next older one still bridges the gap; otherwise no mark would ever grow old.
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
