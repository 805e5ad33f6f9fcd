import type { BlockMark } from '../port.ts'

const marksMax = 64

/** A gap may be as wide as half its distance from the newest block: 64 marks then reach back over 100,000. */
const gapDivisor = 2n

/**
 * Marks below `newest`, newest first: close together near it, far apart further back, never more than 64. A mark
 * is dropped only while the next older one still bridges the gap, for else the far ones would never grow old.
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
