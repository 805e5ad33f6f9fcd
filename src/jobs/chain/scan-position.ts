import type { BlockMark, ScanCursor, StagedTransfer } from '../../chain/types.ts'
import type { NetworkName } from '../../core/asset.ts'
import type { ObservedChainTransfer } from '../../core/evidence.ts'
import type { WatchEntry } from '../../store/chain/chain-watch.ts'

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

/** Null before the first scan. */
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
  book: readonly WatchEntry[]
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
