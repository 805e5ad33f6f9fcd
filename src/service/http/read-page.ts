import { cutPage, type List, readCursor, writeCursor } from './cursor.ts'
import { listLimitDefault } from './schemas.ts'

type PageQuery = { limit?: number | undefined; cursor?: string | undefined }

/** Reads a page of a list ordered by sequence, newest first: rows below the cursor, one more than the limit. */
export async function readPage<Row extends { sequence: bigint }>(
  list: List,
  { limit = listLimitDefault, cursor }: PageQuery,
  read: (reading: { below: bigint | null; limit: number }) => Promise<readonly Row[]>,
): Promise<{ page: readonly Row[]; next_cursor: string | null }> {
  const rows = await read({ below: readCursor(list, cursor), limit: limit + 1 })
  const { page, next } = cutPage(rows, limit, ({ sequence }) => writeCursor(list, sequence))
  return { page, next_cursor: next }
}
