import { refusal } from './problem.ts'

/** The list of a cursor; a cursor of another list is rejected. */
export type List =
  | 'channels'
  | 'stable-wallets'
  | 'deposits'
  | 'withdrawals'
  | 'endpoints'
  | 'events'
  | 'deliveries'

/** Encodes the position of the last row. Opaque to callers, so that its content may change. */
export function writeCursor(list: List, place: bigint): string {
  return Buffer.from(`${list}:${place}`).toString('base64url')
}

/**
 * The position in a cursor; null without a cursor.
 * @throws Fault `request_refused`
 */
export function readCursor(list: List, cursor: string | undefined): bigint | null {
  if (cursor === undefined) return null
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, named, digits = ''] = /^([a-z-]+):([1-9]\d{0,17})$/.exec(text) ?? []
  // The decoder ignores invalid characters, so only a cursor that encodes to the same text is genuine.
  if (named === list && writeCursor(list, BigInt(digits)) === cursor) return BigInt(digits)
  const detail = 'is not a next_cursor that this list answered'
  throw refusal('cursor_invalid', `cursor ${detail}`, { errors: [{ parameter: 'cursor', detail }] })
}

/** Cuts a page from rows that were queried with one more than the limit. */
export function cutPage<Row>(rows: readonly Row[], limit: number, cursorOf: (last: Row) => string) {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, next: rows.length > limit && last !== undefined ? cursorOf(last) : null }
}
