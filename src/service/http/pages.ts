import type { z } from 'zod'
import { type CursorForm, numberKey, type pageQuery, readPageOf } from '../../http/pages.ts'

type List = 'channels' | 'stable-wallets' | 'deposits' | 'withdrawals' | 'endpoints' | 'events' | 'deliveries'

export function bySequence(list: List): CursorForm<bigint> {
  return { list, key: numberKey }
}

/** Newest first: rows below the cursor, one more than the limit. */
export function readPage<Row extends { sequence: bigint }>(
  list: List,
  wish: z.output<typeof pageQuery>,
  read: (range: { below: bigint | null; limit: number }) => Promise<readonly Row[]>,
): Promise<{ page: readonly Row[]; next_cursor: string | null }> {
  const form = { ...bySequence(list), keyOf: ({ sequence }: Row) => [`${sequence}`] }
  return readPageOf(form, wish, ({ after, limit }) => read({ below: after, limit }))
}
