import type { BlockMark, ScanRequest, ScanResult } from '../port.ts'
import { readBlock } from './blocks.ts'
import { readFinalMark } from './final-mark.ts'
import { nothingFound } from './findings.ts'
import { refusal } from './node.ts'
import { readStretch, type SlotRangeRequest } from './read-stretch.ts'
import { provedPart, reportUnread, type SlotRangeReading } from './stretch.ts'
import type { SolanaScan } from './watch.ts'

/** Slots below the cursor that are listed again: a final slot may become readable late (about a minute). */
const overlapSlots = 150n

/**
 * Reads what became final since the cursor, for every owner. The new cursor is the final slot that was read
 * before anything was listed, or, where more waits than one scan reads, the last slot that was read whole.
 * @throws Fault `remote_failed` where the node cannot be believed
 */
export async function scanOn(scan: SolanaScan, request: ScanRequest): Promise<ScanResult> {
  const final = await cappedFinal(scan, request)
  const from = firstUnread(scan, request, final.height)
  const read = await readOn(scan, { from, to: final.height, below: request.cursor?.final ?? null })
  reportUnread(scan, from, read)
  const { transfers, movements, reached } = read
  const mark = await markAt(scan, final, reached)
  return {
    transfers,
    movements,
    proved: provedPart(from, read),
    dissent: [],
    cursor: { final: mark, seenHeight: mark.height, trail: [] },
    headHeight: final.height,
    rewoundTo: null,
    more: reached < final.height,
  }
}

/** Where a scan is to read no further than a slot, that slot is final too. */
async function cappedFinal(scan: SolanaScan, { finalMax }: ScanRequest): Promise<BlockMark> {
  const final = await readFinalMark(scan)
  if (finalMax === undefined || final.height <= finalMax) return final
  return { height: finalMax, hash: (await readBlock(scan, finalMax)).hash }
}

/** @throws Fault `remote_failed` where the node is behind what was read */
function firstUnread({ node }: SolanaScan, { cursor, startHeight }: ScanRequest, final: bigint): bigint {
  if (cursor === null) return startHeight ?? final + 1n
  const { height } = cursor.final
  if (final >= height) return height + 1n
  throw refusal(node, 'slot', `it is at ${final}, below slot ${height}, which was read as final`)
}

/** Where nothing was read before, nothing can have come late. */
async function readOn(
  scan: SolanaScan,
  stretch: Omit<SlotRangeRequest, 'overlap'>,
): Promise<SlotRangeReading> {
  if (stretch.below !== null) return readStretch(scan, { ...stretch, overlap: overlapSlots })
  if (stretch.from <= stretch.to) return readStretch(scan, { ...stretch, overlap: 0n })
  return { ...nothingFound, unread: [], reached: stretch.to }
}

/** @throws Fault `remote_failed` where the final block, if it was read, is not the one that its bank named */
async function markAt(scan: SolanaScan, final: BlockMark, reached: bigint): Promise<BlockMark> {
  if (reached !== final.height) return { height: reached, hash: (await readBlock(scan, reached)).hash }
  const hash = scan.memory.blocks.get(final.height)?.hash ?? final.hash
  if (hash === final.hash) return final
  throw refusal(scan.node, `block ${final.height}`, `its hash is ${hash}, and ${final.hash} by its bank`)
}
