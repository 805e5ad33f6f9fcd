import type { Kysely, Transaction } from 'kysely'
import type { BlockMark, RangeResult, ScanCursor, StagedTransfer } from '../../chain/types.ts'
import type { NetworkName } from '../../core/asset.ts'
import type { ObservedChainTransfer } from '../../core/evidence.ts'
import { appendChainTransfers, appendMovements } from '../../store/chain/chain-transfers.ts'
import { readWatchList, type WatchEntry } from '../../store/chain/chain-watch.ts'
import { readCursor } from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'

export function scanStream(network: NetworkName): string {
  return `scan/${network}`
}

/** `epoch` counts the changes of the final history. */
export type ScanPosition = { cursor: ScanCursor; epoch: number }

type StoredMark = { height: string; hash: string }
type StoredPosition = { final: StoredMark; seenHeight: string; trail: StoredMark[]; epoch: number }

export function encodePosition({ cursor, epoch }: ScanPosition): StoredPosition {
  return {
    final: encodeMark(cursor.final),
    seenHeight: cursor.seenHeight.toString(),
    trail: cursor.trail.map(encodeMark),
    epoch,
  }
}

/** Null before the first scan. In a transaction, it cannot change until the end. */
export async function positionOf(db: Kysely<Tables>, network: NetworkName): Promise<ScanPosition | null> {
  return decodePosition(await readCursor(db, scanStream(network)))
}

export function decodePosition(stored: unknown): ScanPosition | null {
  if (stored === null) return null
  const { final, seenHeight, trail, epoch } = stored as StoredPosition
  const cursor = { final: decodeMark(final), seenHeight: BigInt(seenHeight), trail: trail.map(decodeMark) }
  return { cursor, epoch }
}

function encodeMark({ height, hash }: BlockMark): StoredMark {
  return { height: height.toString(), hash }
}

function decodeMark({ height, hash }: StoredMark): BlockMark {
  return { height: BigInt(height), hash }
}

type ObservedTransferInput = {
  transfers: readonly StagedTransfer[]
  book: readonly Pick<WatchEntry, 'address' | 'role'>[]
  epoch: number
  now: Date
}

export function foundChainTransfers({
  transfers,
  book,
  epoch,
  now,
}: ObservedTransferInput): ObservedChainTransfer[] {
  const entries = Map.groupBy(book, ({ address }) => address)
  return transfers.flatMap(({ stage, ...transfer }) =>
    (entries.get(transfer.to) ?? []).map(({ role }) => ({
      kind: 'chain_transfer' as const,
      stage,
      role,
      epoch,
      receivedAt: now,
      ...transfer,
    })),
  )
}

type FinalReading = Pick<RangeResult, 'transfers' | 'movements'> & { epoch: number; now: Date }

/** @returns the number of new transfers */
export async function storeFinal(
  tx: Transaction<Tables>,
  network: NetworkName,
  { transfers, movements, epoch, now }: FinalReading,
): Promise<number> {
  const book = await readWatchList(tx, network)
  await appendMovements(tx, movements)
  const final = transfers.map((transfer) => ({ ...transfer, stage: 'final' as const }))
  return appendChainTransfers(tx, foundChainTransfers({ transfers: final, book, epoch, now }))
}
