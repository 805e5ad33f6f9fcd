import type { HeightRange, RangeResult } from '../port.ts'
import { readFinalMark } from './final-mark.ts'
import { readStretch } from './read-stretch.ts'
import { provedPart, reportUnread } from './stretch.ts'
import type { SolanaScan } from './watch.ts'

/**
 * Reads a stretch of final slots for its own sake, whatever was read before: as much of it as one scan reads.
 * `reached` is below `from` where nothing of the stretch is final yet.
 * @throws Fault `remote_failed` where the node cannot be believed
 */
export async function readRange(scan: SolanaScan, { from, to }: HeightRange): Promise<RangeResult> {
  const final = await readFinalMark(scan)
  const last = to < final.height ? to : final.height
  if (from > last) return { transfers: [], movements: [], proved: [], dissent: [], reached: from - 1n }
  const read = await readStretch(scan, { from, to: last, below: null, overlap: 0n })
  reportUnread(scan, from, read)
  return {
    transfers: read.transfers.map(({ stage: _stage, ...transfer }) => transfer),
    movements: read.movements,
    proved: provedPart(from, read),
    dissent: [],
    reached: read.reached,
  }
}
