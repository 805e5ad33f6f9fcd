import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { DepositPage, ProviderClient } from '../provider/client.ts'
import { inTransaction } from '../store/database.ts'
import { appendInbox } from '../store/inbox.ts'
import { moveCursor, takeLease } from '../store/streams.ts'
import type { Tables } from '../store/tables.ts'

export type PollDeps = {
  db: Kysely<Tables>
  client: ProviderClient
  holder: string
  leaseMs: number
  overlapMs: number
  now: () => Date
}

export type Polled = { pages: number; stored: number }

export const pollStream = 'poll'

/** When deposits that are open for long were last read again, in milliseconds since 1970. */
type Position = { deepAt: number }

const deepEveryMs = 60_000
const pageSize = 100
const pagesMax = 1000

/**
 * Reads the service's records, newest first, back by the overlap; once a minute back to the oldest deposit that is
 * still open. A record that changed is stored as a new revision; one that did not is stored no second time.
 * @returns null while another process polls.
 */
export async function pollDeposits(deps: PollDeps): Promise<Polled | null> {
  const lease = await takeLease(deps.db, { stream: pollStream, holder: deps.holder, ttlMs: deps.leaseMs })
  if (lease === null) return null
  const startedAt = deps.now()
  const { deepAt } = (lease.cursor ?? { deepAt: 0 }) as Position
  const isDeep = startedAt.getTime() - deepAt >= deepEveryMs
  const oldest = isDeep ? await oldestOfInterest(deps.db, startedAt) : startedAt
  const readBackTo = new Date(oldest.getTime() - deps.overlapMs)
  const position: Position = { deepAt: isDeep ? startedAt.getTime() : deepAt }
  let stored = 0
  let cursor: string | null = null
  for (let pages = 1; pages <= pagesMax; pages++) {
    const page: DepositPage = await deps.client.listDeposits({ cursor, limit: pageSize })
    stored += await storePage(deps, page)
    cursor = page.nextCursor
    const isReadBack = page.records.some(({ createdAt }) => createdAt !== null && createdAt < readBackTo)
    if (cursor === null || isReadBack) {
      await inTransaction(deps.db, (tx) =>
        moveCursor(tx, lease, { cursor: position, progress: { pages, stored } }),
      )
      return { pages, stored }
    }
    await takeLease(deps.db, { stream: pollStream, holder: deps.holder, ttlMs: deps.leaseMs })
  }
  throw new Error(`the service lists more than ${pagesMax} pages for what is still open`)
}

async function storePage({ db, now }: PollDeps, { records }: DepositPage): Promise<number> {
  const receivedAt = now()
  const rows = records.map(({ id, text }) => ({
    source: 'api' as const,
    // The hash tells records apart; the id is for people, and may hold what Postgres cannot keep.
    sourceKey: `${(id ?? 'unnamed').replaceAll(/[^\x20-\x7e]/g, '?')}/${createHash('sha256').update(text).digest('hex')}`,
    body: Buffer.from(text),
    headers: {},
    receivedAt,
  }))
  if (rows.length === 0) return 0
  const distinct = [...new Map(rows.map((row) => [row.sourceKey, row])).values()]
  return (await appendInbox(db, distinct)).size
}

/** Deposits that stay open for longer than this no longer make every poll read back to them. */
const openFor = sql`interval '7 days'`

async function oldestOfInterest(db: Kysely<Tables>, now: Date): Promise<Date> {
  const { rows } = await sql<{ oldest: Date | null }>`
    select min(least(deposited_at, webhook_at, api_at)) as oldest from deposit
    where state in ('observed', 'confirmed', 'settling', 'settled', 'held') and merged_into is null
      and created_at > now() - ${openFor}`.execute(db)
  const oldest = rows[0]?.oldest ?? null
  return oldest !== null && oldest < now ? oldest : now
}
