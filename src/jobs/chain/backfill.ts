import type { Kysely } from 'kysely'
import { inBackground } from '../../chain/background.ts'
import type { OnDemandReader, RangeResult } from '../../chain/types.ts'
import type { Address, AssetKey, NetworkName } from '../../core/asset.ts'
import { assert } from '../../core/errors.ts'
import {
  addCoverage,
  type CoverageRange,
  nextGap,
  noteGaps,
  type OpenGaps,
} from '../../store/chain/coverage.ts'
import { backfillStream, countHistory, endHistory } from '../../store/chain/history.ts'
import { searchAgain } from '../../store/chain/leg-searches.ts'
import { inTransaction } from '../../store/database.ts'
import { clearTroubles, type MismatchChange, openTrouble } from '../../store/mismatches/mismatches.ts'
import { keepLease, type Lease, takeLease } from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'
import { positionOf, storeFinal } from './scan-position.ts'

export type BackfillDeps = BlockRangeDeps & {
  holder: string
  assets: ReadonlyMap<NetworkName, readonly AssetKey[]>
  observe: { mismatches: (changes: readonly MismatchChange[]) => void }
}

export type BackfillResult = {
  stored: number
  /** Gaps may remain: run again at once. */
  more: boolean
}

const readingsPerRun = 20
/** A gap that stays open longer needs a person. */
const healsWithinMs = 3_600_000

/**
 * Lowest heights first; reports gaps that stay open. A run continues after the previous one, so an unreadable range
 * does not block those above it.
 * @returns null while another process does so
 */
export function createBackfill(
  deps: BackfillDeps,
): (reader: BlockRangeReader) => Promise<BackfillResult | null> {
  const positions = new Map<NetworkName, bigint>()
  return async (reader) => {
    const { network } = reader
    const { db, holder, leaseMs } = deps
    const lease = await takeLease(db, { stream: backfillStream(network), holder, ttlMs: leaseMs })
    if (lease === null) return null
    await reportGaps(deps, network)
    let stored = 0
    for (let readings = 0; readings < readingsPerRun; readings++) {
      const gap = await nextGap(db, network, positions.get(network) ?? 0n)
      if (gap === null || !isReadWith(deps, network, gap.assets)) {
        positions.delete(network)
        await reportGaps(deps, network)
        return { stored, more: false }
      }
      positions.set(network, gap.to + 1n)
      const read = await coverRange(deps, reader, { ...gap, lease })
      stored += read?.stored ?? 0
      // If `reached` is lower, nothing is final there yet, or the history changed.
      if (read !== null && read.reached >= gap.from) positions.set(network, read.reached + 1n)
    }
    return { stored, more: true }
  }
}

/** A process with other settings reads other assets. The scanning process decides which ones count. */
function isReadWith({ assets }: BackfillDeps, network: NetworkName, gapAssets: readonly AssetKey[]): boolean {
  return (assets.get(network) ?? []).toSorted().join() === gapAssets.join()
}

async function reportGaps({ db, now, observe }: BackfillDeps, network: NetworkName): Promise<void> {
  const at = now()
  await endHistory(db, network)
  const changes = await inTransaction(db, async (tx) => {
    const openSince = new Date(at.getTime() - healsWithinMs)
    const open = await noteGaps(tx, network, { now: at, openSince })
    return open === null
      ? clearTroubles(tx, network, ['coverage_gap'])
      : openTrouble(tx, { network, kind: 'coverage_gap', detail: detailOf(open) })
  })
  observe.mismatches(changes)
}

function detailOf({ ranges, from, to, addresses, since }: OpenGaps): Record<string, string> {
  return {
    heights: `${from} to ${to}`,
    ranges: ranges.toString(),
    addresses: addresses.toString(),
    since: since.toISOString(),
  }
}

export type BlockRangeDeps = { db: Kysely<Tables>; leaseMs: number; now: () => Date }

export type BlockRangeReader = { network: NetworkName } & Pick<OnDemandReader, 'readRange'>

export type BlockRangeTask = CoverageRange & {
  addresses: readonly Address[]
  watched: number
  assets: readonly AssetKey[]
  lease: Lease
}

export type BlockRangeResult = {
  /** Below `from` if none was read. */
  reached: bigint
  stored: number
}

/**
 * Reads as much as the reader takes at once, and stores transfers and coverage together.
 * @returns null if the history changed meanwhile; nothing is stored then
 * @throws Fault `lease_lost` if another process now reads block ranges of this network; nothing is stored then
 */
export async function coverRange(
  deps: BlockRangeDeps,
  reader: BlockRangeReader,
  range: BlockRangeTask,
): Promise<BlockRangeResult | null> {
  const { from, to, addresses, lease } = range
  const { db } = deps
  const { network } = reader
  const before = await positionOf(db, network)
  const startedAt = deps.now()
  const { result, requests } = await inBackground(() =>
    reader.readRange({ from, to, watched: new Set(addresses) }),
  )
  requireWithin(range, result)
  return inTransaction(db, async (tx) => {
    // Locks in the same order as scans. The scan position stays fixed until this transaction ends.
    if ((await positionOf(tx, network))?.epoch !== before?.epoch) return null
    await keepLease(tx, lease, deps.leaseMs)
    const found = { ...result, epoch: before?.epoch ?? 0, now: deps.now() }
    const stored = await storeFinal(tx, network, found)
    await addCoverage(tx, network, { ...range, proved: result.proved })
    await countHistory(tx, lease, { startedAt, requests, heights: Number(result.reached - from) + 1 })
    // A search needs all heights from the claimed time up to the newest one.
    if (result.reached === to)
      await searchAgain(
        tx,
        addresses.map((address) => ({ network, address })),
      )
    return { reached: result.reached, stored }
  })
}

function requireWithin({ from, to }: CoverageRange, { reached, proved }: RangeResult): void {
  const isWithin = proved.every((one) => from <= one.from && one.from <= one.to && one.to <= reached)
  assert(reached <= to && isWithin, `reading ${from} to ${to} proves nothing else`)
}
