import { z } from 'zod'
import { refusal } from './problem.ts'

/** A cursor of another list is rejected. */
type List = 'channels' | 'stable-wallets' | 'deposits' | 'withdrawals' | 'endpoints' | 'events' | 'deliveries'

/** Opaque to callers, so that its content may change. */
export function writeCursor(list: List, sequence: bigint): string {
  return Buffer.from(`${list}:${sequence}`).toString('base64url')
}

/** Null without a cursor. @throws Fault `request_refused` */
export function readCursor(list: List, cursor: string | undefined): bigint | null {
  if (cursor === undefined) return null
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, named, digits = ''] = /^([a-z-]+):([1-9]\d{0,17})$/.exec(text) ?? []
  // The decoder ignores invalid characters.
  if (named === list && writeCursor(list, BigInt(digits)) === cursor) return BigInt(digits)
  const detail = 'is not a next_cursor of this list'
  throw refusal('cursor_invalid', `cursor ${detail}`, { errors: [{ parameter: 'cursor', detail }] })
}

/** Newest first: rows below the cursor, one more than the limit. */
export async function readPage<Row extends { sequence: bigint }>(
  list: List,
  { limit = listLimitDefault, cursor }: z.output<typeof pageQuery>,
  read: (range: { below: bigint | null; limit: number }) => Promise<readonly Row[]>,
): Promise<{ page: readonly Row[]; next_cursor: string | null }> {
  const rows = await read({ below: readCursor(list, cursor), limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const hasMore = rows.length > limit && last !== undefined
  return { page, next_cursor: hasMore ? writeCursor(list, last.sequence) : null }
}

function countText(max: number) {
  const error = `must be a whole number from 1 to ${max}`
  return z
    .string()
    .regex(/^[1-9]\d{0,5}$/, { error })
    .transform(Number)
    .pipe(z.int().min(1).max(max, { error }))
}

export const listLimitDefault = 50
export const listLimitMax = 500

/** The list that issued `cursor` decodes it. */
export const pageQuery = z.strictObject({
  limit: countText(listLimitMax).optional(),
  cursor: z.string().min(1).max(200).optional(),
})

/** `next_cursor` is null on the last page. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ data: z.array(item), next_cursor: z.string().nullable() })
}
