import { createHash } from 'node:crypto'
import { defaultService, type ServiceName } from '../../core/evidence.ts'
import type { PageMark } from '../../provider/paging.ts'
import type { ListProfile } from '../../provider/profile/profile-schema.ts'

export const pollStream = (service: ServiceName): string =>
  service === defaultService ? 'poll' : `poll/${service}`

/** Times are in milliseconds since 1970. */
export type PollPosition = {
  /** Null before the first reading. */
  readAt: number | null
  window: Window | null
  /** Reads back beyond the last readings, for records that appeared late. Null before the first. */
  backAt: number | null
  back: Window | null
  tail: PageMark
  sweep: { startedAt: number; mark: PageMark } | null
  sweptAt: number | null
  listedBy: string | null
}

/** From a time on, back to a time, or from the end of the list on. */
export type Window = {
  startedAt: number
  since: number | null
  readBackTo: number | null
  mark: PageMark
}

export const beginning: PollPosition = {
  readAt: null,
  window: null,
  backAt: null,
  back: null,
  tail: null,
  sweep: null,
  sweptAt: null,
  listedBy: null,
}

/**
 * In a list with other settings, the marks may point anywhere.
 * @param cursor null before the first reading
 */
export function positionIn(list: ListProfile, cursor: unknown): PollPosition {
  const position = { ...beginning, ...(cursor as PollPosition | null) }
  const listedBy = createHash('sha256').update(JSON.stringify(list)).digest('hex')
  if (position.listedBy === null || position.listedBy === listedBy) return { ...position, listedBy }
  return { ...position, window: null, back: null, tail: null, sweep: null, sweptAt: null, listedBy }
}
