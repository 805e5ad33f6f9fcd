import { type Kysely, sql } from 'kysely'
import type { DepositPage } from '../../provider/deposit-client.ts'
import type { Tables } from '../../store/tables.ts'
import type { LeasedPollDeps, PollDeps } from './poll.ts'
import type { PollPosition, Window } from './poll-position.ts'
import type { PollReport } from './read-records.ts'
import { walkPages } from './walk-pages.ts'

/** Pages of one run; the next run goes on from there. */
const pagesPerRun = 200
const deepEveryMs = 60_000

/**
 * Reads what is recent, or goes on with it where the run before stopped. What comes in or changes meanwhile is left to
 * the next window, which reaches back to when this one was opened.
 */
export async function readRecent(
  deps: LeasedPollDeps,
  given: PollPosition,
  reading: PollReport,
): Promise<PollPosition> {
  const window = given.window ?? (await openWindow(deps, given))
  const { end, mark, lastMark } = await walkPages(deps, walkOf(window), reading)
  if (end === 'paused') return { ...given, window: { ...window, mark } }
  // From where the list begins: also of what is read from its end, where that is not known any more.
  if (end === 'expired') return { ...given, tail: null, window: { ...window, mark: null } }
  const { startedAt: readAt, deepAt } = window
  return { ...given, readAt, deepAt, window: null, tail: lastMark }
}

function walkOf({ mark, since, readBackTo }: Window) {
  const isEnough = ({ records }: DepositPage) =>
    readBackTo !== null && records.some(({ time }) => time !== null && time.getTime() < readBackTo)
  return { from: mark, since: since === null ? null : new Date(since), pagesMax: pagesPerRun, isEnough }
}

async function openWindow(deps: PollDeps, position: PollPosition): Promise<Window> {
  const startedAt = deps.now().getTime()
  // A time that is far ahead is that of a clock that was wrong.
  const isDeep = Math.abs(startedAt - position.deepAt) >= deepEveryMs
  const reach = await reachOf(deps, position, { startedAt, isDeep })
  const deepAt = isDeep ? startedAt : position.deepAt
  const { since, order } = deps.client.list
  const mark = since === undefined && order === 'oldest-first' ? position.tail : null
  return { startedAt, deepAt, mark, ...reach }
}

/** A list of what was updated needs no more than the time since the last reading; others go back to what is open. */
async function reachOf(
  { db, client, overlapMs, sweepEveryMs }: PollDeps,
  { readAt }: PollPosition,
  { startedAt, isDeep }: { startedAt: number; isDeep: boolean },
): Promise<Pick<Window, 'since' | 'readBackTo'>> {
  const { since, order } = client.list
  // What is still to come, by a clock that was wrong, was not read.
  const readTo = Math.min(readAt ?? startedAt, startedAt)
  if (since?.of === 'updated') return { since: readTo - overlapMs, readBackTo: null }
  const oldest = isDeep ? await oldestOfInterest(db, startedAt) : startedAt
  // What came and went since the last reading may be of no deposit that is open; what is older, a full reading brings.
  const lastRead = Math.max(readTo, startedAt - sweepEveryMs)
  const from = Math.min(oldest, lastRead) - overlapMs
  if (since !== undefined) return { since: from, readBackTo: null }
  return { since: null, readBackTo: order === 'newest-first' ? from : null }
}

/** Deposits that stay open for longer than this no longer make every poll read back to them. */
const openFor = sql`interval '7 days'`

async function oldestOfInterest(db: Kysely<Tables>, now: number): Promise<number> {
  const { rows } = await sql<{ oldest: Date | null }>`
    select min(least(deposited_at, webhook_at, api_at)) as oldest from deposit
    where state in ('observed', 'confirmed', 'settling', 'settled', 'held') and merged_into is null
      and created_at > now() - ${openFor}`.execute(db)
  return Math.min(rows[0]?.oldest?.getTime() ?? now, now)
}
