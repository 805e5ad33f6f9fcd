import type { Kysely } from 'kysely'
import type { OnDemandReader, RangeResult } from '../../chain/port.ts'
import type { Address, AssetKey, NetworkName } from '../../core/asset.ts'
import { assert } from '../../core/errors.ts'
import { appendChainTransfers } from '../../store/chain/chain-transfers.ts'
import { readWatchList } from '../../store/chain/chain-watch.ts'
import { addCoverage, type CoverageRange } from '../../store/chain/coverage.ts'
import { searchAgain } from '../../store/chain/leg-searches.ts'
import { appendMovements } from '../../store/chain/movements.ts'
import { inTransaction } from '../../store/database.ts'
import { keepLease, type Lease, readCursor } from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'
import { foundChainTransfers } from './found-transfers.ts'
import { decodePosition, scanStream } from './scan-position.ts'

export type BlockRangeDeps = { db: Kysely<Tables>; leaseMs: number; now: () => Date }

/** The reader of one network, limited to block ranges. */
export type BlockRangeReader = { network: NetworkName } & Pick<OnDemandReader, 'readRange'>

/** A block range to read for some addresses, and the coverage it adds. */
export type BlockRangeTask = CoverageRange & {
  addresses: readonly Address[]
  watched: number
  assets: readonly AssetKey[]
  /** Lease of the process that reads block ranges of this network. */
  lease: Lease
}

export type BlockRangeResult = {
  /** Last height read; below `from` if none was. */
  reached: bigint
  /** New chain transfers stored. */
  stored: number
}

/**
 * Reads the start of a block range, as much as the reader takes at once, and stores transfers and coverage together.
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
  const stream = scanStream(reader.network)
  const epoch = epochOf(await readCursor(db, stream))
  const result = await reader.readRange({ from, to, watched: new Set(addresses) })
  requireWithin(range, result)
  const book = await readWatchList(db, reader.network)
  return inTransaction(db, async (tx) => {
    // Locks in the same order as scans. The scan position stays fixed until this transaction ends.
    if (epochOf(await readCursor(tx, stream)) !== epoch) return null
    await keepLease(tx, lease, deps.leaseMs)
    const transfers = result.transfers.map((transfer) => ({ ...transfer, stage: 'final' as const }))
    const stored = await appendChainTransfers(
      tx,
      foundChainTransfers({ transfers, book, epoch, now: deps.now() }),
    )
    await appendMovements(tx, result.movements)
    await addCoverage(tx, reader.network, { ...range, proved: result.proved })
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
