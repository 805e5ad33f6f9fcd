import { inTransaction } from '../../store/database.ts'
import { countMisses } from '../../store/records.ts'
import type { LeasedPollDeps } from './poll.ts'
import type { PollPosition } from './poll-position.ts'
import type { PollReport } from './read-records.ts'
import { walkPages } from './walk-pages.ts'

/** Pages of one run; the next run goes on from there. */
const pagesPerRun = 50
const dayMs = 86_400_000

/**
 * Reads some more of the list as a whole, where that is due. Once its end is reached, what it did not list is counted
 * as missed.
 */
export async function sweepRecords(
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
