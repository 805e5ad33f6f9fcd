import type { AssetKey, NetworkName } from '../../core/asset.ts'
import { nextGap, noteGaps, type OpenGaps } from '../../store/chain/coverage-gaps.ts'
import { clearTroubles, openTrouble } from '../../store/chain/network-mismatches.ts'
import { inTransaction } from '../../store/database.ts'
import type { MismatchChange } from '../../store/mismatches/mismatches.ts'
import { takeLease } from '../../store/streams.ts'
import { type BlockRangeDeps, type BlockRangeReader, readStretch } from './read-stretch.ts'

export type BackfillDeps = BlockRangeDeps & {
  holder: string
  /** What is read on each network. */
  assets: ReadonlyMap<NetworkName, readonly AssetKey[]>
  observe: { mismatches: (changes: readonly MismatchChange[]) => void }
}

export type BackfillResult = {
  /** Sightings that were not stored before. */
  stored: number
  /** There may be gaps left that this run had no time for: run again at once. */
  more: boolean
}

const readingsPerRun = 20
/** A gap that stays open for longer needs a person. */
const healsWithinMs = 3_600_000

/** The stream of whoever reads stretches of a network beside its scans. */
export function backfillStream(network: NetworkName): string {
  return `backfill/${network}`
}

/**
 * Reads what a network's addresses miss, the lowest heights first, and tells of gaps that do not close. A run goes on
 * where the one before it stopped: a stretch that cannot be read must not keep those above it waiting.
 * @returns null while another process does so.
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
    await tellGaps(deps, network)
    let stored = 0
    for (let readings = 0; readings < readingsPerRun; readings++) {
      const gap = await nextGap(db, network, places.get(network) ?? 0n)
      if (gap === null || !isReadWith(deps, network, gap.assets)) {
        places.delete(network)
        await tellGaps(deps, network)
        return { stored, more: false }
      }
      places.set(network, gap.to + 1n)
      const read = await readStretch(deps, reader, { ...gap, lease })
      stored += read?.stored ?? 0
      // Below it where nothing is final there yet, or where history changed: the next round begins at the bottom anyway.
      if (read !== null && read.reached >= gap.from) places.set(network, read.reached + 1n)
    }
    return { stored, more: true }
  }
}

/** Another version of the settings reads other assets; whoever scans decides which ones count. */
function isReadWith({ assets }: BackfillDeps, network: NetworkName, wanted: readonly AssetKey[]): boolean {
  return (assets.get(network) ?? []).toSorted().join() === wanted.join()
}

async function tellGaps({ db, now, observe }: BackfillDeps, network: NetworkName): Promise<void> {
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

function detailOf({ stretches, from, to, addresses, since }: OpenGaps): Record<string, string> {
  return {
    heights: `${from} to ${to}`,
    stretches: stretches.toString(),
    addresses: addresses.toString(),
    since: since.toISOString(),
  }
}
