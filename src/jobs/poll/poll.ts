import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { ServiceName } from '../../core/evidence.ts'
import { reach } from '../../failpoint.ts'
import type { DepositClient, DepositPage } from '../../provider/deposit-client.ts'
import type { PageMark } from '../../provider/paging.ts'
import { inTransaction } from '../../store/database.ts'
import { isMorePending } from '../../store/inbox.ts'
import { countMisses, missedRecords, staleRecords } from '../../store/records.ts'
import { keepLease, type Lease, moveCursor, takeLease, underLease } from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'
import { type PollPosition, pollStream, positionIn, type Window } from './position.ts'
import {
  declareGone,
  nothingRead,
  type PollReport,
  type ReadDeps,
  readAlone,
  type WalkDeps,
  walkPages,
} from './read-records.ts'

export type PollDeps = ReadDeps & {
  holder: string
  leaseMs: number
  overlapMs: number
  sweepEveryMs: number
}

export type LeasedPollDeps = PollDeps &
  WalkDeps & {
    /** Of a reading that goes on: after a kill it continues there. */
    keepPosition: (position: PollPosition) => Promise<void>
  }

const aloneMax = 20
/** If no list returned the record of an open deposit for so long, it is read by id. */
const staleAfterMs = 3_600_000

/**
 * Reads recent records, some pages of a due full reading, and by id those that lists do not return. An unchanged record
 * is not stored again.
 * @returns null while another process polls
 * @throws Fault `lease_lost` if another process polls by now; unwritten results are dropped
 */
export async function pollDeposits(deps: PollDeps): Promise<PollReport | null> {
  const lease = await takeLease(deps.db, {
    stream: pollStream(deps.client.service),
    holder: deps.holder,
    ttlMs: deps.leaseMs,
  })
  if (lease === null) return null
  const reading = nothingRead()
  await underLease(deps.db, lease, () => pollUnder(lease, deps, reading))
  return reading
}

async function pollUnder(taken: Lease, deps: PollDeps, reading: PollReport): Promise<void> {
  let lease = taken
  const polling: LeasedPollDeps = {
    ...deps,
    keepPlace: (tx) => keepLease(tx, lease, deps.leaseMs),
    async keepPosition(position) {
      lease = await save(deps, lease, { position, reading, isBehind: true })
    },
  }
  const before = positionIn(deps.client.list, lease.cursor)
  const recent = await readRecent(polling, before, reading)
  reach('poll.read')
  lease = await save(deps, lease, { position: recent, reading })
  const backed = await readBack(polling, recent, reading)
  lease = await save(deps, lease, { position: backed, reading })
  const swept = await sweepRecords(polling, backed, reading)
  lease = await save(deps, lease, { position: swept, reading })
  await readMissed(polling, reading)
}

type PollProgress = { position: PollPosition; reading: PollReport; isBehind?: boolean }

async function save(
  { db }: PollDeps,
  lease: Lease,
  { position, reading, isBehind = position.window !== null }: PollProgress,
): Promise<Lease> {
  const { pages, stored } = reading
  const { sweptAt } = position
  const progress = { pages, stored, ...(sweptAt !== null && { sweptAt: sweptAt / 1000 }) }
  await inTransaction(db, async (tx) => {
    await moveCursor(tx, lease, { cursor: position, progress, isBehind })
    reach('poll.in_transaction')
  })
  return { ...lease, cursor: position }
}

/** Without a call for single records, a second miss in a full reading means that the record is gone. */
async function readMissed(deps: LeasedPollDeps, reading: PollReport): Promise<void> {
  const { db, client, now } = deps
  const { service } = client
  if (client.list.one === undefined) {
    const missed = await missedRecords(db, service, { missesMin: 2, limit: 1000 })
    return declareGone(deps, missed, { sentAt: now(), reading })
  }
  await readAlone(deps, await missedRecords(db, service, { missesMin: 1, limit: aloneMax }), reading)
  const readBefore = new Date(now().getTime() - staleAfterMs)
  await readAlone(deps, await staleRecords(db, service, { readBefore, limit: aloneMax }), reading)
}

const sweepPagesMax = 50
const dayMs = 86_400_000

/** At the end of the list, records it did not return count as missed. */
async function sweepRecords(
  deps: LeasedPollDeps,
  before: PollPosition,
  reading: PollReport,
): Promise<PollPosition> {
  const now = deps.now().getTime()
  const isDue = before.sweptAt === null || Math.abs(now - before.sweptAt) >= deps.sweepEveryMs
  if (before.sweep === null && !isDue) return before
  const { startedAt, mark: from } = before.sweep ?? { startedAt: now, mark: null }
  const onPage = (next: PageMark) => deps.keepPosition({ ...before, sweep: { startedAt, mark: next } })
  const walk = { from, since: null, pagesMax: sweepPagesMax, isEnough: () => false, onPage }
  // The clock of the process that began may be ahead: its readings must not look missed.
  const clock = () => new Date(Math.max(deps.now().getTime(), startedAt))
  const { end, mark, lastMark } = await walkPages({ ...deps, now: clock }, walk, reading)
  if (end === 'expired') return { ...before, sweep: null }
  if (end === 'paused') return { ...before, sweep: { startedAt, mark } }
  await settleMisses(deps, startedAt)
  return { ...before, tail: lastMark, sweep: null, sweptAt: startedAt }
}

async function settleMisses(
  { db, client, now, keepPlace }: LeasedPollDeps,
  startedAt: number,
): Promise<void> {
  const { keptDays } = client.list
  // Records also exceed the retention period during the reading.
  const listedSince = keptDays === undefined ? null : new Date(now().getTime() - keptDays * dayMs)
  await inTransaction(db, async (tx) => {
    await keepPlace(tx)
    await countMisses(tx, client.service, { startedAt: new Date(startedAt), listedSince })
  })
}

const recentPagesMax = 200

/**
 * May continue the window of the previous run. Records that change meanwhile belong to the next window, which reaches
 * back to the start of this one.
 */
async function readRecent(
  deps: LeasedPollDeps,
  position: PollPosition,
  reading: PollReport,
): Promise<PollPosition> {
  const window = position.window ?? recentWindow(deps, position)
  const inWindow = { pagesMax: recentPagesMax, at: (left: Window) => ({ ...position, window: left }) }
  const { left, lastMark } = await readWindow(deps, { window, ...inWindow }, reading)
  if (left === null) return { ...position, readAt: window.startedAt, window: null, tail: lastMark }
  // The expired mark may also be the end of an oldest-first list.
  return { ...position, window: left, tail: left.mark === null ? null : position.tail }
}

const backPagesMax = 100
const backEveryMs = 60_000

/** Some pages of each run, so that recent records do not wait for it. */
async function readBack(
  deps: LeasedPollDeps,
  position: PollPosition,
  reading: PollReport,
): Promise<PollPosition> {
  const window = position.back ?? (await backWindow(deps, position))
  if (window === null) return position
  const inWindow = { pagesMax: backPagesMax, at: (back: Window) => ({ ...position, back }) }
  const { left } = await readWindow(deps, { window, ...inWindow }, reading)
  return left === null ? { ...position, backAt: window.startedAt, back: null } : { ...position, back: left }
}

type WindowWalk = { window: Window; pagesMax: number; at: (left: Window) => PollPosition }

/** `left`: null once the window is read to its end. */
async function readWindow(
  deps: LeasedPollDeps,
  { window, pagesMax, at }: WindowWalk,
  reading: PollReport,
): Promise<{ left: Window | null; lastMark: PageMark }> {
  const { mark: from, since, readBackTo } = window
  const isEnough = ({ records }: DepositPage) =>
    readBackTo !== null && records.some(({ time }) => time !== null && time.getTime() < readBackTo)
  const onPage = (mark: PageMark) => deps.keepPosition(at({ ...window, mark }))
  const walk = { from, since: since === null ? null : new Date(since), pagesMax, isEnough, onPage }
  const { end, mark, lastMark } = await walkPages(deps, walk, reading)
  return { left: end === 'reached' ? null : { ...window, mark }, lastMark }
}

/** For services whose clock differs, or whose list is a moment behind. */
const recentOverlapMs = 5000

/** From the last reading on. Of a list by creation, records that were created shortly before may change, too. */
function recentWindow({ client, now, overlapMs, sweepEveryMs }: PollDeps, position: PollPosition): Window {
  const { since, order } = client.list
  const startedAt = now().getTime()
  // A future comes from a wrong clock: nothing was read up to it.
  const readTo = Math.min(position.readAt ?? startedAt, startedAt)
  if (since?.of === 'updated')
    return openWindow(client, startedAt, readTo - Math.min(recentOverlapMs, overlapMs))
  // A record since the last reading may belong to no open deposit. The full reading covers older ones.
  const window = openWindow(client, startedAt, Math.max(readTo, startedAt - sweepEveryMs) - overlapMs)
  return since === undefined && order === 'oldest-first' ? { ...window, mark: position.tail } : window
}

/**
 * A list of updates is read from the last such reading on, others back to the oldest open deposit.
 * @returns null if it is not due, or if the list has no order or is read from its end on
 */
async function backWindow(
  { db, client, now, overlapMs }: PollDeps,
  { backAt }: PollPosition,
): Promise<Window | null> {
  const { since, order } = client.list
  const startedAt = now().getTime()
  const isBounded = since !== undefined || order === 'newest-first'
  // A far future comes from a wrong clock.
  if (!isBounded || (backAt !== null && Math.abs(startedAt - backAt) < backEveryMs)) return null
  const from =
    since?.of === 'updated'
      ? Math.min(backAt ?? startedAt, startedAt)
      : await oldestOfInterest(db, client.service, startedAt)
  return openWindow(client, startedAt, from - overlapMs)
}

function openWindow({ list: { since, order } }: DepositClient, startedAt: number, from: number): Window {
  if (since !== undefined) return { startedAt, since: from, readBackTo: null, mark: null }
  return { startedAt, since: null, readBackTo: order === 'newest-first' ? from : null, mark: null }
}

/** Deposits open longer than this no longer extend every poll back to them. */
const openFor = sql`interval '7 days'`

async function oldestOfInterest(db: Kysely<Tables>, service: ServiceName, now: number): Promise<number> {
  const { rows } = await sql<{ oldest: Date | null }>`
    select min(least(deposited_at, webhook_at, api_at)) as oldest from deposit
    where service = ${service} and state in ('observed', 'confirmed', 'settling', 'settled', 'held')
      and merged_into is null and created_at > now() - ${openFor}`.execute(db)
  return Math.min(rows[0]?.oldest?.getTime() ?? now, now)
}

export type Cadence = {
  youngMs: number
  quietMs: number
}

const pauseMs = 1000

/** Such a reading is older than a correction of the database's clock. */
const setBack = sql`interval '2 minutes'`

/**
 * A second after the last poll while a deposit is young or a longer reading is in progress, otherwise after the quiet
 * interval. Uses the database clock, so that all schedulers agree.
 * @returns false if it is not due within a second; otherwise waits until it is
 */
export async function untilPollDue(
  db: Kysely<Tables>,
  service: ServiceName,
  { youngMs, quietMs }: Cadence,
): Promise<boolean> {
  const { rows } = await sql<{ wait_ms: number }>`
    select extract(epoch from succeeded_at - now())::float8 * 1000 + case
      when 'object' in (jsonb_typeof(cursor -> 'back'), jsonb_typeof(cursor -> 'sweep')) or exists (
        select from deposit where service = ${service} and state in ('observed', 'confirmed', 'settling', 'settled', 'held')
          and merged_into is null and created_at > now() - ${youngMs}::float8 * interval '1 millisecond'
      ) then ${pauseMs}::float8 else ${quietMs}::float8 end as wait_ms
    from stream where name = ${pollStream(service)} and succeeded_at < now() + ${setBack}`.execute(db)
  const waitMs = rows[0]?.wait_ms ?? 0
  if (waitMs > pauseMs) return false
  // Not dropped: it may be the last wake-up for what a webhook named.
  await sleep(Math.max(0, waitMs))
  return true
}

/** A new webhook is applied after them. */
const pendingMax = 100
const lookEveryMs = 20
/** Reading continues even if rows are not applied. */
const patienceMs = 500

type KeepPaceDeps = { db: Kysely<Tables>; wake: (job: 'apply') => Promise<void> }

export async function keepPace({ db, wake }: KeepPaceDeps, waitMaxMs = patienceMs): Promise<void> {
  await wake('apply')
  const until = performance.now() + waitMaxMs
  while (performance.now() < until && (await isMorePending(db, pendingMax))) await sleep(lookEveryMs)
}
