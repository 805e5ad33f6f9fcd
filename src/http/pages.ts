import { z } from 'zod'
import { createProblems, httpProblems } from './problem.ts'

const { refusal } = createProblems(httpProblems)

/** A cursor of another list is rejected. `key` parses the parts of the key that orders the rows, which are texts. */
export type CursorForm<Key> = { list: string; key: z.ZodType<Key> }

/** Opaque to callers, so that its content may change. */
export function writeCursor(list: string, key: readonly string[]): string {
  return Buffer.from(JSON.stringify([list, ...key])).toString('base64url')
}

/** Null without a cursor. @throws Fault `request_refused` */
export function readCursor<Key>({ list, key }: CursorForm<Key>, cursor: string | undefined): Key | null {
  if (cursor === undefined) return null
  const [named, ...parts] = partsIn(cursor)
  const parsed = key.safeParse(parts)
  // The decoder ignores invalid characters.
  if (named === list && parsed.success && writeCursor(list, parts) === cursor) return parsed.data
  const detail = 'is not a next_cursor of this list'
  throw refusal('cursor_invalid', `cursor ${detail}`, { errors: [{ parameter: 'cursor', detail }] })
}

function partsIn(cursor: string): readonly string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parts) && parts.every((one) => typeof one === 'string') ? parts : []
  } catch {
    return []
  }
}

/** A row number, for lists that it orders. */
export const numberKey = z
  .tuple([z.string().regex(/^[1-9]\d{0,17}$/)])
  .transform(([digits]) => BigInt(digits))

type PageWish = { limit?: number | undefined; cursor?: string | undefined }

/** Reads one more than the limit. `keyOf` gives the key of a row. */
export async function readPageOf<Row, Key>(
  form: CursorForm<Key> & { keyOf: (row: Row) => readonly string[] },
  { limit = listLimitDefault, cursor }: PageWish,
  read: (range: { after: Key | null; limit: number }) => Promise<readonly Row[]>,
): Promise<{ page: readonly Row[]; next_cursor: string | null }> {
  const rows = await read({ after: readCursor(form, cursor), limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const hasMore = rows.length > limit && last !== undefined
  return { page, next_cursor: hasMore ? writeCursor(form.list, form.keyOf(last)) : null }
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
  cursor: z.string().min(1).max(1000).optional(),
})

export type PageQuery = z.output<typeof pageQuery>

/** `next_cursor` is null on the last page. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ data: z.array(item), next_cursor: z.string().nullable() })
}
