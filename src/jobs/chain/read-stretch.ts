import type { Kysely } from 'kysely'
import type { OnDemandReader, RangeResult } from '../../chain/port.ts'
import type { Address, AssetKey, NetworkName } from '../../core/asset.ts'
import { assert } from '../../core/errors.ts'
import { readWatchList } from '../../store/chain/chain-watch.ts'
import { addCoverage, type CoverageRange } from '../../store/chain/coverage.ts'
import { searchAgain } from '../../store/chain/leg-searches.ts'
import { appendMovements } from '../../store/chain/movements.ts'
import { appendSightings } from '../../store/chain/sightings.ts'
import { inTransaction } from '../../store/database.ts'
import { keepLease, type Lease, readCursor } from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'
import { foundSightings } from './found-sightings.ts'
import { decodePosition, scanStream } from './scan-position.ts'

export type BlockRangeDeps = { db: Kysely<Tables>; leaseMs: number; now: () => Date }

/** The reader of one network, as far as stretches of it are read. */
export type BlockRangeReader = { network: NetworkName } & Pick<OnDemandReader, 'readRange'>

/** Heights to be read for some addresses, and what is covered once they are. */
export type BlockRangeTask = CoverageRange & {
  addresses: readonly Address[]
  watched: number
  assets: readonly AssetKey[]
  /** Held by whoever reads stretches of this network. */
  lease: Lease
}

export type BlockRangeResult = {
  /** The last height that was read; below `from` where none was. */
  reached: bigint
  /** Sightings that were not stored before. */
  stored: number
}

/**
 * Reads the beginning of a stretch, as much as the reader reads at once, and stores what is there together with what it
 * proves.
 * @returns null where history changed meanwhile: nothing is stored then.
 * @throws Fault `lease_lost` where somebody else reads stretches of this network by now; nothing is stored then.
 */
export async function readStretch(
  deps: BlockRangeDeps,
  reader: BlockRangeReader,
  stretch: BlockRangeTask,
): Promise<BlockRangeResult | null> {
  const { from, to, addresses, lease } = stretch
  const { db } = deps
  const stream = scanStream(reader.network)
  const epoch = epochOf(await readCursor(db, stream))
  const result = await reader.readRange({ from, to, watched: new Set(addresses) })
  requireWithin(stretch, result)
  const book = await readWatchList(db, reader.network)
  return inTransaction(db, async (tx) => {
    // In the order in which scans take them. The scan's stays as it is until this transaction ends.
    if (epochOf(await readCursor(tx, stream)) !== epoch) return null
    await keepLease(tx, lease, deps.leaseMs)
    const transfers = result.transfers.map((transfer) => ({ ...transfer, stage: 'final' as const }))
    const stored = await appendSightings(tx, foundSightings({ transfers, book, epoch, now: deps.now() }))
    await appendMovements(tx, result.movements)
    await addCoverage(tx, reader.network, { ...stretch, proved: result.proved })
    const { network } = reader
    await searchAgain(
      tx,
      addresses.map((address) => ({ network, address })),
    )
    return { reached: result.reached, stored }
  })
}

function epochOf(cursor: unknown): number {
  return decodePosition(cursor)?.epoch ?? 0
}

function requireWithin({ from, to }: CoverageRange, { reached, proved }: RangeResult): void {
  const isWithin = proved.every((one) => from <= one.from && one.from <= one.to && one.to <= reached)
  assert(reached <= to && isWithin, `reading ${from} to ${to} proves nothing else`)
}
