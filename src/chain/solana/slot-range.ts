import type { BlockMark, HeightRange } from '../types.ts'
import type { Unread } from './blocks.ts'
import type { Findings } from './findings.ts'
import type { SolanaScan } from './watch.ts'

/** Final slots to read, both ends included. */
export type SlotRange = HeightRange & {
  /** The block read before `from`, if its hash is known. */
  below: BlockMark | null
  /** By owner: this many slots below `from` are listed again. */
  overlap: bigint
  /** By block: the most blocks to read. */
  blocksMax: number
}

/** The findings up to slot `reached`. */
export type SlotRangeReading = Findings & {
  /** Transactions that cannot be read: their slots are not proved. */
  unread: readonly UnreadTransaction[]
  reached: bigint
}

/** `tx` is null if only its block is known. */
export type UnreadTransaction = { slot: bigint; tx: string | null; reason: Unread }

/** Reports unreadable transactions. Those below the range were reported before. */
export function reportUnread({ node }: SolanaScan, from: bigint, { unread }: SlotRangeReading): void {
  for (const one of unread) if (one.slot >= from) node.reportUnread(one)
}

/** The slots that were read completely, as ranges. */
export function provedPart(from: bigint, { unread, reached }: SlotRangeReading): HeightRange[] {
  const holes = [...new Set(unread.map(({ slot }) => slot))]
    .filter((slot) => slot >= from)
    .toSorted((left, right) => (left < right ? -1 : 1))
  const starts = [from, ...holes.map((slot) => slot + 1n)]
  const ends = [...holes.map((slot) => slot - 1n), reached]
  return starts
    .map((start, place) => ({ from: start, to: ends[place] ?? reached }))
    .filter((range) => range.from <= range.to)
}
