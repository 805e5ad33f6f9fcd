import { createHash } from 'node:crypto'
import type { PageMark } from '../../provider/page-marks.ts'
import type { ListProfile } from '../../provider/profile/list-schema.ts'

export const pollStream = 'poll'

/** How far the reading of records has come. Times are in milliseconds since 1970. */
export type PollPosition = {
  /** When the last complete reading of what is recent began; null before the first. */
  readAt: number | null
  /** When deposits that are open for long were last read again. */
  deepAt: number
  /** The reading of what is recent that is under way. */
  window: Window | null
  /** Where the last page begins that the last reading came to; a list that is oldest first is read on from there. */
  tail: PageMark
  /** The full reading under way. */
  sweep: { startedAt: number; mark: PageMark } | null
  /** When the last full reading that came to the end began. */
  sweptAt: number | null
  /** How the list was read that the marks are of; null where that was not kept. */
  listedBy: string | null
}

/** What one reading of what is recent goes over: since a time, back to a time, or from the end of the list on. */
export type Window = {
  startedAt: number
  /** Which of the position this is once all of it was read. */
  deepAt: number
  since: number | null
  readBackTo: number | null
  /** Where it goes on. */
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

/** What an earlier version kept lacks some of it. */
export function readPosition(cursor: unknown): PollPosition {
  return { ...beginning, ...(cursor as Partial<PollPosition> | null) }
}

/** Forgets marks of a list that is read in another way by now: where they lead there, nobody can tell. */
export function positionIn(list: ListProfile, position: PollPosition): PollPosition {
  const listedBy = createHash('sha256').update(JSON.stringify(list)).digest('hex')
  if (position.listedBy === null || position.listedBy === listedBy) return { ...position, listedBy }
  return { ...position, window: null, tail: null, sweep: null, sweptAt: null, listedBy }
}
