import { reach } from '../../failpoint.ts'
import { inTransaction } from '../../store/database.ts'
import { missedRecords, staleRecords } from '../../store/records.ts'
import { keepLease, type Lease, moveCursor, takeLease, underLease } from '../../store/streams.ts'
import { type PollPosition, pollStream, positionIn, readPosition } from './poll-position.ts'
import { readRecent } from './read-recent.ts'
import { declareGone, nothingRead, type PollReport, type ReadDeps, readAlone } from './read-records.ts'
import { sweepRecords } from './sweep-records.ts'
import type { WalkDeps } from './walk-pages.ts'

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
