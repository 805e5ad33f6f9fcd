import type { BlockMark } from '../port.ts'

const marksMax = 64

/** With a mark kept for each quarter of its distance from the newest, 64 marks reach back over 100,000 blocks. */
const thinning = 4n

/** Marks below `newest`, newest first: close together near it, far apart further back, never more than 64. */
export function extendTrail(newest: BlockMark, marks: readonly BlockMark[]): BlockMark[] {
  const kept: BlockMark[] = []
  let last = newest
  for (const mark of marks) {
    const gap = last.height - mark.height
    if (gap > 0n && gap * thinning >= newest.height - last.height) {
      kept.push(mark)
      last = mark
    }
  }
  return kept.slice(0, marksMax)
}
