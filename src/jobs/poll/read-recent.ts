import { type Kysely, sql } from 'kysely'
import type { DepositPage } from '../../provider/deposit-client.ts'
import type { Tables } from '../../store/tables.ts'
import type { LeasedPollDeps, PollDeps } from './poll.ts'
import type { PollPosition, Window } from './poll-position.ts'
import type { PollReport } from './read-records.ts'
import { walkPages } from './walk-pages.ts'

/** Pages per run; the next run continues. */
const pagesPerRun = 200
const deepEveryMs = 60_000

/**
 * Reads recent records, or continues the window of the previous run. Records that arrive or change meanwhile belong to
 * the next window, which reaches back to the start of this one.
 */
export async function readRecent(
  deps: LeasedPollDeps,
  given: PollPosition,
  reading: PollReport,
): Promise<PollPosition> {
  const window = given.window ?? (await openWindow(deps, given))
  const { end, mark, lastMark } = await walkPages(deps, walkOf(window), reading)
  if (end === 'paused') return { ...given, window: { ...window, mark } }
  // Starts over at the beginning of the list, also if the expired mark was the end of an oldest-first list.
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
  // A time far in the future comes from a wrong clock.
  const isDeep = Math.abs(startedAt - position.deepAt) >= deepEveryMs
  const reach = await reachOf(deps, position, { startedAt, isDeep })
  const deepAt = isDeep ? startedAt : position.deepAt
  const { since, order } = deps.client.list
  const mark = since === undefined && order === 'oldest-first' ? position.tail : null
  return { startedAt, deepAt, mark, ...reach }
}

/** A list of updates is read from the last reading on. Other lists are read back to the oldest open deposit. */
async function reachOf(
  { db, client, overlapMs, sweepEveryMs }: PollDeps,
  { readAt }: PollPosition,
  { startedAt, isDeep }: { startedAt: number; isDeep: boolean },
): Promise<Pick<Window, 'since' | 'readBackTo'>> {
  const { since, order } = client.list
  // A time in the future comes from a wrong clock: nothing was read up to it.
  const readTo = Math.min(readAt ?? startedAt, startedAt)
  if (since?.of === 'updated') return { since: readTo - overlapMs, readBackTo: null }
  const oldest = isDeep ? await oldestOfInterest(db, startedAt) : startedAt
  // A record that arrived since the last reading may belong to no open deposit. The full reading covers older ones.
  const lastRead = Math.max(readTo, startedAt - sweepEveryMs)
  const from = Math.min(oldest, lastRead) - overlapMs
  if (since !== undefined) return { since: from, readBackTo: null }
  return { since: null, readBackTo: order === 'newest-first' ? from : null }
}

/** Deposits open longer than this no longer extend every poll back to them. */
const openFor = sql`interval '7 days'`

async function oldestOfInterest(db: Kysely<Tables>, now: number): Promise<number> {
  const { rows } = await sql<{ oldest: Date | null }>`
    select min(least(deposited_at, webhook_at, api_at)) as oldest from deposit
    where state in ('observed', 'confirmed', 'settling', 'settled', 'held') and merged_into is null
      and created_at > now() - ${openFor}`.execute(db)
  return Math.min(rows[0]?.oldest?.getTime() ?? now, now)
}
