import { createHash } from 'node:crypto'
import type { PageMark } from '../../provider/paging.ts'
import type { ListProfile } from '../../provider/profile/profile-schema.ts'

export const pollStream = 'poll'

/** Progress of reading records. Times are in milliseconds since 1970. */
export type PollPosition = {
  /** Start of the last completed reading of recent records; null before the first. */
  readAt: number | null
  /** When long-open deposits were last read again. */
  deepAt: number
  /** The reading of recent records in progress. */
  window: Window | null
  /** Start of the last page of the last reading. An oldest-first list continues there. */
  tail: PageMark
  /** The full reading in progress. */
  sweep: { startedAt: number; mark: PageMark } | null
  /** Start of the last completed full reading. */
  sweptAt: number | null
  /** Digest of the list settings to which the marks belong; null if it was not stored. */
  listedBy: string | null
}

/** Scope of one reading of recent records: from a time on, back to a time, or from the end of the list on. */
export type Window = {
  startedAt: number
  /** Becomes the position's `deepAt` when the window is complete. */
  deepAt: number
  since: number | null
  readBackTo: number | null
  /** Mark from which it continues. */
  mark: PageMark
}

const beginning: PollPosition = {
  readAt: null,
  deepAt: 0,
  window: null,
  tail: null,
  sweep: null,
  sweptAt: null,
  listedBy: null,
}

/** A position stored by an earlier version lacks some fields. */
export function readPosition(cursor: unknown): PollPosition {
  return { ...beginning, ...(cursor as Partial<PollPosition> | null) }
}

/** Discards the marks if the list settings changed: in the new list they may point anywhere. */
export function positionIn(list: ListProfile, position: PollPosition): PollPosition {
  const listedBy = createHash('sha256').update(JSON.stringify(list)).digest('hex')
  if (position.listedBy === null || position.listedBy === listedBy) return { ...position, listedBy }
  return { ...position, window: null, tail: null, sweep: null, sweptAt: null, listedBy }
}
