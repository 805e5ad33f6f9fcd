import type { AssetKey, NetworkName } from '../../core/asset.ts'
import { nextGap, noteGaps, type OpenGaps } from '../../store/chain/coverage-gaps.ts'
import { clearTroubles, openTrouble } from '../../store/chain/network-mismatches.ts'
import { inTransaction } from '../../store/database.ts'
import type { MismatchChange } from '../../store/mismatches/mismatches.ts'
import { takeLease } from '../../store/streams.ts'
import { type BlockRangeDeps, type BlockRangeReader, coverRange } from './cover-range.ts'

export type BackfillDeps = BlockRangeDeps & {
  holder: string
  /** Assets read on each network. */
  assets: ReadonlyMap<NetworkName, readonly AssetKey[]>
  observe: { mismatches: (changes: readonly MismatchChange[]) => void }
}

export type BackfillResult = {
  /** New chain transfers stored. */
  stored: number
  /** Gaps may remain that did not fit into this run: run again at once. */
  more: boolean
}

const readingsPerRun = 20
/** A gap that stays open longer needs a person. */
const healsWithinMs = 3_600_000

/** The lease name for reading block ranges of a network beside its scans. */
export function backfillStream(network: NetworkName): string {
  return `backfill/${network}`
}

/**
 * Fills the gaps in the coverage of a network's addresses, lowest heights first, and reports gaps that stay open. A run
 * continues after the previous one, so an unreadable range does not block those above it.
 * @returns null while another process does so
 */
export function createBackfill(
  deps: BackfillDeps,
): (reader: BlockRangeReader) => Promise<BackfillResult | null> {
  const places = new Map<NetworkName, bigint>()
  return async (reader) => {
    const { network } = reader
    const { db, holder, leaseMs } = deps
    const lease = await takeLease(db, { stream: backfillStream(network), holder, ttlMs: leaseMs })
    if (lease === null) return null
    await reportGaps(deps, network)
    let stored = 0
    for (let readings = 0; readings < readingsPerRun; readings++) {
      const gap = await nextGap(db, network, places.get(network) ?? 0n)
      if (gap === null || !isReadWith(deps, network, gap.assets)) {
        places.delete(network)
        await reportGaps(deps, network)
        return { stored, more: false }
      }
      places.set(network, gap.to + 1n)
      const read = await coverRange(deps, reader, { ...gap, lease })
      stored += read?.stored ?? 0
      // Nothing is final there yet, or the history changed, if `reached` is lower. The next round starts at the bottom
      // anyway.
      if (read !== null && read.reached >= gap.from) places.set(network, read.reached + 1n)
    }
    return { stored, more: true }
  }
}

/** A process with other settings reads other assets. The scanning process decides which ones count. */
function isReadWith({ assets }: BackfillDeps, network: NetworkName, wanted: readonly AssetKey[]): boolean {
  return (assets.get(network) ?? []).toSorted().join() === wanted.join()
}

async function reportGaps({ db, now, observe }: BackfillDeps, network: NetworkName): Promise<void> {
  const at = now()
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
