import { reach } from '../../failpoint.ts'
import { inTransaction } from '../../store/database.ts'
import { countMisses, missedRecords, staleRecords } from '../../store/records.ts'
import { keepLease, type Lease, moveCursor, takeLease, underLease } from '../../store/streams.ts'
import { type PollPosition, pollStream, positionIn, readPosition } from './poll-position.ts'
import { readRecent } from './read-recent.ts'
import { declareGone, nothingRead, type PollReport, type ReadDeps, readAlone } from './read-records.ts'
import { type WalkDeps, walkPages } from './walk-pages.ts'

export type PollDeps = ReadDeps & {
  /** Names this process among those that may poll. */
  holder: string
  leaseMs: number
  overlapMs: number
  /** How often all records are read, from the first to the last. */
  sweepEveryMs: number
}

/** Whoever polls, with the lease under which what is read is written. */
export type LeasedPollDeps = PollDeps & WalkDeps

/** Records that one run reads alone, of each kind. */
const aloneMax = 20
/** A record of an open deposit that no list brought for so long is read alone. */
const staleAfterMs = 3_600_000

/**
 * Reads the service's records: what is recent, some pages of the full reading where one is due, and alone what lists
 * do not bring. A record that changed is stored as a new revision; one that did not is stored no second time.
 * @returns null while another process polls.
 * @throws Fault `lease_lost` where another one polls by now; what was not yet written is not written then.
 */
export async function pollDeposits(deps: PollDeps): Promise<PollReport | null> {
  const lease = await takeLease(deps.db, { stream: pollStream, holder: deps.holder, ttlMs: deps.leaseMs })
  if (lease === null) return null
  const reading = nothingRead()
  await underLease(deps.db, lease, () => pollUnder(lease, deps, reading))
  return reading
}

async function pollUnder(taken: Lease, deps: PollDeps, reading: PollReport): Promise<void> {
  let lease = taken
  const polling: LeasedPollDeps = { ...deps, keepPlace: (tx) => keepLease(tx, lease, deps.leaseMs) }
  const before = positionIn(deps.client.list, readPosition(lease.cursor))
  const recent = await readRecent(polling, before, reading)
  reach('poll.read')
  lease = await save(deps, lease, { position: recent, reading })
  const swept = await sweepRecords(polling, recent, reading)
  lease = await save(deps, lease, { position: swept, reading })
  await readMissed(polling, reading)
}

type PollProgress = { position: PollPosition; reading: PollReport }

/** @returns the lease as it goes on from there */
async function save({ db }: PollDeps, lease: Lease, { position, reading }: PollProgress): Promise<Lease> {
  const { pages, stored } = reading
  const { sweptAt, window } = position
  const progress = { pages, stored, ...(sweptAt !== null && { sweptAt: sweptAt / 1000 }) }
  await inTransaction(db, async (tx) => {
    await moveCursor(tx, lease, { cursor: position, progress, isBehind: window !== null })
    reach('poll.in_transaction')
  })
  return { ...lease, cursor: position }
}

/** Where records can be read alone, that decides whether one that was missed is gone; else a second full reading. */
async function readMissed(deps: LeasedPollDeps, reading: PollReport): Promise<void> {
  const { db, client, now } = deps
  if (client.list.one === undefined) {
    const missed = await missedRecords(db, { missesMin: 2, limit: 1000 })
    return declareGone(deps, missed, { sentAt: now(), reading })
  }
  await readAlone(deps, await missedRecords(db, { missesMin: 1, limit: aloneMax }), reading)
  const readBefore = new Date(now().getTime() - staleAfterMs)
  await readAlone(deps, await staleRecords(db, { readBefore, limit: aloneMax }), reading)
}

/** Pages of one run; the next run goes on from there. */
const pagesPerRun = 50
const dayMs = 86_400_000

/**
 * Reads some more of the list as a whole, where that is due. Once its end is reached, what it did not list is counted
 * as missed.
 */
async function sweepRecords(
  deps: LeasedPollDeps,
  before: PollPosition,
  reading: PollReport,
): Promise<PollPosition> {
  const now = deps.now().getTime()
  const isDue = before.sweptAt === null || Math.abs(now - before.sweptAt) >= deps.sweepEveryMs
  if (before.sweep === null && !isDue) return before
  const { startedAt, mark: from } = before.sweep ?? { startedAt: now, mark: null }
  const walk = { from, since: null, pagesMax: pagesPerRun, isEnough: () => false }
  // A clock that is behind that of the process which began must not make what it reads look missed.
  const clock = () => new Date(Math.max(deps.now().getTime(), startedAt))
  const { end, mark, lastMark } = await walkPages({ ...deps, now: clock }, walk, reading)
  // It begins anew.
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
  // By now: records grow too old also while the others are read.
  const listedSince = keptDays === undefined ? null : new Date(now().getTime() - keptDays * dayMs)
  await inTransaction(db, async (tx) => {
    await keepPlace(tx)
    await countMisses(tx, { startedAt: new Date(startedAt), listedSince })
  })
}
