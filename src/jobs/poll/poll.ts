import { type Kysely, sql } from 'kysely'
import { reach } from '../../failpoint.ts'
import type { DepositPage } from '../../provider/deposit-client.ts'
import { inTransaction } from '../../store/database.ts'
import { missedRecords, staleRecords } from '../../store/records.ts'
import { type Lease, moveCursor, takeLease } from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'
import { type Position, pollStream, positionIn, readPosition } from './poll-position.ts'
import { declareGone, nothingRead, type Reading, readAlone } from './read-records.ts'
import { sweepRecords } from './sweep-records.ts'
import { type WalkDeps, walkPages } from './walk-pages.ts'

export type PollDeps = WalkDeps & {
  overlapMs: number
  /** How often all records are read, from the first to the last. */
  sweepEveryMs: number
}

const deepEveryMs = 60_000
const pagesMax = 1000
/** Records that one run reads alone, of each kind. */
const aloneMax = 20
/** A record of an open deposit that no list brought for so long is read alone. */
const staleAfterMs = 3_600_000

/**
 * Reads the service's records: what is recent, some pages of the full reading where one is due, and alone what lists
 * do not bring. A record that changed is stored as a new revision; one that did not is stored no second time.
 * @returns null while another process polls.
 */
export async function pollDeposits(deps: PollDeps): Promise<Reading | null> {
  const lease = await takeLease(deps.db, { stream: pollStream, holder: deps.holder, ttlMs: deps.leaseMs })
  if (lease === null) return null
  const reading = nothingRead()
  const recent = await readRecent(deps, positionIn(deps.client.list, readPosition(lease.cursor)), reading)
  reach('poll.read')
  await save(deps, lease, { position: recent, reading })
  const swept = await sweepRecords(deps, recent, reading)
  await save(deps, lease, { position: swept, reading })
  await readMissed(deps, reading)
  return reading
}

type Progress = { position: Position; reading: Reading }

async function save({ db }: PollDeps, lease: Lease, { position, reading }: Progress): Promise<void> {
  const { pages, stored } = reading
  const progress = { pages, stored, ...(position.sweptAt !== null && { sweptAt: position.sweptAt / 1000 }) }
  await inTransaction(db, async (tx) => {
    await moveCursor(tx, lease, { cursor: position, progress })
    reach('poll.in_transaction')
  })
}

async function readRecent(deps: PollDeps, before: Position, reading: Reading): Promise<Position> {
  const startedAt = deps.now().getTime()
  // A time that is far ahead is that of a clock that was wrong.
  const isDeep = Math.abs(startedAt - before.deepAt) >= deepEveryMs
  const position = { ...before, readAt: startedAt, deepAt: isDeep ? startedAt : before.deepAt }
  const window = await windowOf(deps, before, isDeep)
  // Without a place to go on from, the full reading finds it.
  if (window.isTail && before.tail === null) return position
  const { readBackTo } = window
  const isEnough = ({ records }: DepositPage) =>
    readBackTo !== null && records.some(({ time }) => time !== null && time < readBackTo)
  const walk = { from: window.isTail ? before.tail : null, since: window.since, pagesMax, isEnough }
  const { end, lastMark } = await walkPages(deps, walk, reading)
  if (end === 'paused')
    throw new Error(`the service lists more than ${pagesMax} pages for what is still open`)
  // Only the end of a list can have expired; a full reading finds it again.
  if (end === 'expired') return { ...position, tail: null, sweep: null, sweptAt: null }
  return window.isTail ? { ...position, tail: lastMark } : position
}

/** Where the recent records are: since a time, back to a time, or at the end of a list that is oldest first. */
type Window = { since: Date | null; readBackTo: Date | null; isTail: boolean }

/** A list of what was updated needs no more than the time since the last reading; others go back to what is open. */
async function windowOf(
  { db, client, overlapMs, sweepEveryMs, now }: PollDeps,
  { readAt }: Position,
  isDeep: boolean,
): Promise<Window> {
  const { since, order } = client.list
  const back = { since: null, readBackTo: null, isTail: false }
  const asOf = now().getTime()
  // What is still to come, by a clock that was wrong, was not read.
  const readTo = Math.min(readAt ?? asOf, asOf)
  if (since?.of === 'updated') return { ...back, since: new Date(readTo - overlapMs) }
  const oldest = isDeep ? await oldestOfInterest(db, now()) : now()
  // What came and went since the last reading may be of no deposit that is open; what is older, a full reading brings.
  const lastRead = Math.max(readTo, asOf - sweepEveryMs)
  const from = new Date(Math.min(oldest.getTime(), lastRead) - overlapMs)
  if (since !== undefined) return { ...back, since: from }
  return order === 'newest-first' ? { ...back, readBackTo: from } : { ...back, isTail: true }
}

/** Where records can be read alone, that decides whether one that was missed is gone; else a second full reading. */
async function readMissed(deps: PollDeps, reading: Reading): Promise<void> {
  const { db, client, now } = deps
  if (client.list.one === undefined) {
    const missed = await missedRecords(db, { missesMin: 2, limit: 1000 })
    return declareGone(deps, missed, { sentAt: now(), reading })
  }
  await readAlone(deps, await missedRecords(db, { missesMin: 1, limit: aloneMax }), reading)
  const readBefore = new Date(now().getTime() - staleAfterMs)
  await readAlone(deps, await staleRecords(db, { readBefore, limit: aloneMax }), reading)
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
