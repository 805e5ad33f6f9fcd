import type { BlockMark, HeightRange } from '../port.ts'
import type { Findings } from './findings.ts'

/** Final slots to be read, both ends included. */
export type Stretch = HeightRange & {
  /** The block that was read before `from`, where its hash is known. */
  below: BlockMark | null
  /** By owner: so many slots below `from` are listed again. */
  overlap: bigint
  /** By block: so many blocks are read at most. */
  blocksMax: number
}

/** What was read, through slot `reached`. */
export type StretchRead = Findings & {
  /** Slots with a transaction of a version that cannot be read: they are not proved. */
  unread: readonly bigint[]
  reached: bigint
}

/** The slots that were read whole, as ranges. */
export function provedPart(from: bigint, { unread, reached }: StretchRead): HeightRange[] {
  const holes = [...new Set(unread)]
    .filter((slot) => slot >= from)
    .toSorted((left, right) => (left < right ? -1 : 1))
  const starts = [from, ...holes.map((slot) => slot + 1n)]
  const ends = [...holes.map((slot) => slot - 1n), reached]
  return starts
    .map((start, place) => ({ from: start, to: ends[place] ?? reached }))
    .filter((range) => range.from <= range.to)
}
