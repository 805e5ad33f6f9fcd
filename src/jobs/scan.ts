import type { Kysely, Transaction } from 'kysely'
import type { BlockMark, ChainReader, ScanCursor, ScanResult, StagedTransfer } from '../chain/port.ts'
import type { NetworkName } from '../core/asset.ts'
import type { Sighting } from '../core/evidence.ts'
import { watchedAddresses } from '../store/address-book.ts'
import { inTransaction } from '../store/database.ts'
import { appendSightings, rewoundSightings, vanishedSightings } from '../store/sightings.ts'
import { type Lease, moveCursor, takeLease } from '../store/streams.ts'
import type { Tables } from '../store/tables.ts'

export type ScanDeps = {
  db: Kysely<Tables>
  /** Names this process among those that may scan. */
  holder: string
  leaseMs: number
  /** Where the first scan of a network begins; without it, at what is final then. */
  startHeights: ReadonlyMap<NetworkName, bigint>
  now: () => Date
}

export type Scanned = {
  network: NetworkName
  stored: number
  /** The chain's final history changed below what was read. */
  rewound: boolean
  headHeight: bigint
  finalHeight: bigint
  more: boolean
}

type Role = Sighting['role']

/**
 * Reads one network on from where it stands and stores what was found together with the new place.
 * @returns null while another process scans this network.
 */
export async function scanNetwork(deps: ScanDeps, reader: ChainReader): Promise<Scanned | null> {
  const { db, holder, leaseMs } = deps
  const lease = await takeLease(db, { stream: scanStream(reader.network), holder, ttlMs: leaseMs })
  if (lease === null) return null
  const watched = await watchedAddresses(db, reader.network)
  const roles = Map.groupBy(watched, ({ address }) => address)
  const position = decodePosition(lease.cursor)
  const result = await reader.scan({
    cursor: position?.cursor ?? null,
    startHeight: deps.startHeights.get(reader.network) ?? null,
    watched: new Set(roles.keys()),
  })
  const epoch = (position?.epoch ?? 0) + (result.rewoundTo === null ? 0 : 1)
  const now = deps.now()
  const found = result.transfers.flatMap((transfer) =>
    (roles.get(transfer.to) ?? []).map(({ role }) => toSighting(transfer, { role, epoch, now })),
  )
  const stored = await inTransaction(db, async (tx) => {
    const withdraw = (gone: readonly Sighting[]) =>
      appendSightings(
        tx,
        gone.map((one) => ({ ...one, stage: 'orphaned', epoch, receivedAt: now })),
      )
    // Before what was found: that is part of the new history, and a later change may withdraw it again.
    const rewound = await withdraw(await rewoundBy(tx, reader.network, result))
    const count = await appendSightings(tx, found)
    const vanished = await withdraw(await vanishedBy(tx, reader.network, { result, position }))
    await savePosition(tx, lease, { result, epoch })
    return rewound + count + vanished
  })
  return {
    network: reader.network,
    stored,
    rewound: result.rewoundTo !== null,
    headHeight: result.headHeight,
    finalHeight: result.cursor.final.height,
    more: result.more,
  }
}

export function scanStream(network: NetworkName): string {
  return `scan/${network}`
}

type Position = { cursor: ScanCursor; epoch: number }

function toSighting(
  { stage, ...transfer }: StagedTransfer,
  { role, epoch, now }: { role: Role; epoch: number; now: Date },
): Sighting {
  return { kind: 'sighting', stage, role, epoch, receivedAt: now, ...transfer }
}

/** What the store believes to be final and this scan has shown to be gone. */
async function rewoundBy(
  tx: Transaction<Tables>,
  network: NetworkName,
  { rewoundTo }: ScanResult,
): Promise<Sighting[]> {
  return rewoundTo === null ? [] : rewoundSightings(tx, network, rewoundTo)
}

/** Early sightings that are not among what this scan has shown to be final at their height. */
function vanishedBy(
  tx: Transaction<Tables>,
  network: NetworkName,
  { result, position }: { result: ScanResult; position: Position | null },
): Promise<Sighting[]> {
  const above = result.rewoundTo ?? position?.cursor.final.height ?? -1n
  return vanishedSightings(tx, { network, above, upTo: result.cursor.final.height })
}

function savePosition(
  tx: Transaction<Tables>,
  lease: Lease,
  { result, epoch }: { result: ScanResult; epoch: number },
) {
  const { cursor, headHeight } = result
  const progress = { head: Number(headHeight), final: Number(cursor.final.height), epoch }
  return moveCursor(tx, lease, { cursor: encodePosition({ cursor, epoch }), progress })
}

type StoredMark = { height: string; hash: string }
type StoredPosition = { final: StoredMark; seenHeight: string; trail: StoredMark[]; epoch: number }

function encodePosition({ cursor, epoch }: Position): StoredPosition {
  return {
    final: encodeMark(cursor.final),
    seenHeight: cursor.seenHeight.toString(),
    trail: cursor.trail.map(encodeMark),
    epoch,
  }
}

function decodePosition(stored: unknown): Position | null {
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
