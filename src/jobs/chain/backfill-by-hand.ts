import type { NetworkName } from '../../core/asset.ts'
import { Fault, isFault } from '../../core/errors.ts'
import type { ObservedChainTransfer } from '../../core/evidence.ts'
import { chainTransfersAfter, newestInboxId } from '../../store/chain/chain-transfers.ts'
import { readWatchList, watchFrom } from '../../store/chain/chain-watch.ts'
import {
  type CoverageRange,
  nextGap,
  readScanPosition,
  withdrawCoverage,
} from '../../store/chain/coverage.ts'
import { backfillStream } from '../../store/chain/history.ts'
import { inTransaction } from '../../store/database.ts'
import { clearTroubles } from '../../store/mismatches/mismatches.ts'
import { releaseLeases, seizeLease } from '../../store/streams.ts'
import { type BlockRangeTask, coverRange } from './backfill.ts'
import { type NetworkReader, rescanNetwork, type ScanDeps, scanNetwork } from './scan.ts'
import { scanStream } from './scan-position.ts'

/** Without `to`: up to the height already read, or onwards from `from` if the network halted. */
export type BackfillRange = { from: bigint; to: bigint | null }

export type BackfillProgress = { reached: bigint; to: bigint; stored: number }

export type BackfillReport = {
  network: NetworkName
  /** `resumed`: the network had halted. */
  outcome: 'read' | 'resumed'
  from: bigint
  to: bigint
  /** False if some heights could not be read. The daemon keeps trying. */
  complete: boolean
  stored: number
  news: readonly ObservedChainTransfer[]
}

const newsMax = 1000

/**
 * Reads in addition to what is stored; the daemon may run meanwhile. A network that halted because its history was lost
 * resumes at that height.
 * @throws Fault `usage_bad` if the range cannot be read
 */
export async function backfillByHand(
  deps: ScanDeps,
  reader: NetworkReader,
  { requested, report }: { requested: BackfillRange; report: (progress: BackfillProgress) => void },
): Promise<BackfillReport> {
  const { db, holder } = deps
  const range = await rangeOf(deps, reader.network, requested)
  const before = await newestInboxId(db)
  try {
    const resumed = requested.to === null ? await resume(deps, reader, { from: range.from, report }) : null
    const { to, stored } = resumed ?? (await reread(deps, reader, { range, report }))
    const { network } = reader
    const gap = await nextGap(db, network, range.from)
    return {
      network,
      outcome: resumed === null ? 'read' : 'resumed',
      from: range.from,
      to,
      complete: gap === null || gap.from > to,
      stored,
      news: await chainTransfersAfter(db, { network, after: before, limit: newsMax, from: range.from, to }),
    }
  } finally {
    await releaseLeases(db, holder)
  }
}

async function rangeOf(
  { db }: ScanDeps,
  network: NetworkName,
  { from, to }: BackfillRange,
): Promise<CoverageRange> {
  const position = await readScanPosition(db, network)
  if (position === null) throw refuse(`${network} has not been read yet`, 'start the daemon first')
  const range = { from, to: to ?? position.height }
  if (to !== null && from > to)
    throw refuse(`--from ${from} is above --to ${to}`, 'give the lower height as --from')
  if (range.to > position.height || from > range.to) {
    const problem = `${network} has been read as final only up to ${position.height}`
    throw refuse(problem, 'the daemon reads higher blocks when they become final')
  }
  return range
}

function refuse(problem: string, fix: string): Fault {
  return new Fault('usage_bad', { problem, fix })
}

type BackfillReporter = { report: (progress: BackfillProgress) => void }

type ManualBackfillResult = { to: bigint; stored: number }

/** @returns null if the network has not halted */
async function resume(
  deps: ScanDeps,
  reader: NetworkReader,
  { from, report }: BackfillReporter & { from: bigint },
): Promise<ManualBackfillResult | null> {
  const { network } = reader
  const seize = () =>
    seizeLease(deps.db, { stream: scanStream(network), holder: deps.holder, ttlMs: deps.leaseMs })
  await seize()
  if (!(await isHalted(deps, reader))) {
    await releaseLeases(deps.db, deps.holder)
    return null
  }
  const done = { to: from, stored: 0 }
  // The scan released the lease when it halted, so the daemon may have it.
  await seize()
  let scanned = await rescanNetwork(deps, reader, from)
  if (scanned === null) throw new Fault('lease_lost', { stream: scanStream(network) })
  for (; scanned !== null; scanned = await scanNetwork(deps, reader)) {
    done.to = scanned.finalHeight
    done.stored += scanned.stored
    report({ reached: scanned.finalHeight, to: scanned.headHeight, stored: done.stored })
    if (!scanned.more) break
  }
  await clearTroubles(deps.db, network, ['history_lost'])
  return done
}

async function isHalted(deps: ScanDeps, reader: NetworkReader): Promise<boolean> {
  try {
    await scanNetwork(deps, reader)
    return false
  } catch (error) {
    if (!isFault(error, 'history_lost')) throw error
    return true
  }
}

/** Withdraws the coverage first: after an interruption, the daemon reads the rest. */
async function reread(
  deps: ScanDeps,
  reader: NetworkReader,
  { range, report }: BackfillReporter & { range: CoverageRange },
): Promise<ManualBackfillResult> {
  const { db, holder, leaseMs } = deps
  const { network } = reader
  const lease = await seizeLease(db, { stream: backfillStream(network), holder, ttlMs: leaseMs })
  const book = (await readWatchList(db, network)).filter(({ number }) => number !== null)
  const task: Omit<BlockRangeTask, keyof CoverageRange> = {
    addresses: book.map(({ address }) => address),
    watched: Math.max(0, ...book.map(({ number }) => number ?? 0)),
    assets: (deps.assets.get(network) ?? []).toSorted(),
    lease,
  }
  await inTransaction(db, (tx) => withdrawCoverage(tx, network, range))
  let [from, stored] = [range.from, 0]
  while (from <= range.to) {
    const read = await coverRange(deps, reader, { ...task, from, to: range.to })
    if (read === null) continue
    if (read.reached < from) {
      throw new Fault('remote_failed', {
        what: `reading ${network}`,
        problem: `no node reports height ${from} as final`,
      })
    }
    stored += read.stored
    from = read.reached + 1n
    report({ reached: read.reached, to: range.to, stored })
  }
  await inTransaction(db, (tx) => watchFrom(tx, network, { ...range, watched: task.watched }))
  return { to: range.to, stored }
}
