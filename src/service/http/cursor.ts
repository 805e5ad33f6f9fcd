import { refusal } from './problem.ts'

/** Which list a cursor belongs to: one of another list is refused. */
export type List =
  | 'channels'
  | 'stable-wallets'
  | 'deposits'
  | 'withdrawals'
  | 'endpoints'
  | 'events'
  | 'deliveries'

/** Opaque to callers, so that it may change what it holds: the place of the last one that was read. */
export function writeCursor(list: List, place: bigint): string {
  return Buffer.from(`${list}:${place}`).toString('base64url')
}

/**
 * The place that a cursor names; null without one.
 * @throws Fault `request_refused`
 */
export function readCursor(list: List, cursor: string | undefined): bigint | null {
  if (cursor === undefined) return null
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, named, digits = ''] = /^([a-z-]+):([1-9]\d{0,17})$/.exec(text) ?? []
  // Decoding passes over what is no base64url; only what is written back the same was given by this service.
  if (named === list && writeCursor(list, BigInt(digits)) === cursor) return BigInt(digits)
  const detail = 'is not a next_cursor that this list answered'
  throw refusal('cursor_invalid', `cursor ${detail}`, { errors: [{ parameter: 'cursor', detail }] })
}

/** A page out of rows that were asked for with one more than the limit. */
export function cutPage<Row>(rows: readonly Row[], limit: number, cursorOf: (last: Row) => string) {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, next: rows.length > limit && last !== undefined ? cursorOf(last) : null }
}
