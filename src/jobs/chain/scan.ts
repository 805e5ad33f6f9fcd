import type { Kysely, Transaction } from 'kysely'
import type { ChainReader, OnDemandReader, ScanResult } from '../../chain/types.ts'
import type { AssetKey, NetworkName } from '../../core/asset.ts'
import { assert, Fault } from '../../core/errors.ts'
import type { ObservedChainTransfer } from '../../core/evidence.ts'
import { reach } from '../../failpoint.ts'
import { rewindBalances } from '../../store/chain/balance-points.ts'
import {
  appendChainTransfers,
  appendMovements,
  rewoundChainTransfers,
  vanishedChainTransfers,
  withdrawMovements,
} from '../../store/chain/chain-transfers.ts'
import {
  type Enrolment,
  enrolAddresses,
  readWatchList,
  type WatchEntry,
} from '../../store/chain/chain-watch.ts'
import { addCoverage, saveScanPosition, withdrawCoverage } from '../../store/chain/coverage.ts'
import { inTransaction } from '../../store/database.ts'
import { keepLease, type Lease, moveCursor, takeLease, underLease } from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'
import {
  decodePosition,
  encodePosition,
  foundChainTransfers,
  type ScanPosition,
  scanStream,
} from './scan-position.ts'

export type NetworkReader = ChainReader & Pick<OnDemandReader, 'readRange' | 'heightAt'>

export type ScanDeps = {
  db: Kysely<Tables>
  holder: string
  leaseMs: number
  /** Default: the final block at that time. */
  startHeights: ReadonlyMap<NetworkName, bigint>
  assets: ReadonlyMap<NetworkName, readonly AssetKey[]>
  now: () => Date
}

export type ScanReport = {
  network: NetworkName
  stored: number
  rewound: boolean
  movedOn: boolean
  dissent: readonly string[]
  enrolled: number
  headHeight: bigint
  finalHeight: bigint
  more: boolean
}

/** Results and new position are stored together. @returns null while another process scans this network */
export async function scanNetwork(deps: ScanDeps, reader: NetworkReader): Promise<ScanReport | null> {
  return whileLeased(deps, reader, async (started) => {
    const { position, book } = started
    const startHeight = deps.startHeights.get(reader.network) ?? null
    const watched = new Set(book.map(({ address }) => address))
    const result = await reader.scan({ cursor: position?.cursor ?? null, startHeight, watched })
    return finish(deps, reader, { ...started, result, startHeight })
  })
}

/**
 * `height` may be far below the position. Transfers stored as final above it are withdrawn if the chain does not have
 * them.
 * @returns null while another process scans this network
 * @throws Fault `usage_bad` if the chain is not final up to that height
 */
export async function rescanNetwork(
  deps: ScanDeps,
  reader: NetworkReader,
  from: bigint,
): Promise<ScanReport | null> {
  return whileLeased(deps, reader, async (started) => {
    const watched = new Set(started.book.map(({ address }) => address))
    const read = await reader.scan({ cursor: null, startHeight: from, watched })
    const { height } = read.cursor.final
    if (height < from - 1n) {
      throw new Fault('usage_bad', {
        problem: `${reader.network} is final only up to ${height}`,
        fix: `give a height up to ${height + 1n}`,
      })
    }
    // The resume height says nothing about when an address was created.
    const startHeight = deps.startHeights.get(reader.network) ?? null
    return finish(deps, reader, { ...started, result: { ...read, rewoundTo: from - 1n }, startHeight })
  })
}

type ScanContext = { lease: Lease; position: ScanPosition | null; book: readonly WatchEntry[] }

/** @returns null while another process scans this network */
async function whileLeased(
  { db, holder, leaseMs }: ScanDeps,
  { network }: NetworkReader,
  scan: (started: ScanContext) => Promise<ScanReport>,
): Promise<ScanReport | null> {
  const lease = await takeLease(db, { stream: scanStream(network), holder, ttlMs: leaseMs })
  if (lease === null) return null
  return underLease(db, lease, async () =>
    scan({ lease, position: decodePosition(lease.cursor), book: await readWatchList(db, network) }),
  )
}

type ScanReading = ScanContext & { result: ScanResult; startHeight: bigint | null }

const nobody: Enrolment = { addresses: [], fromHeight: 0n }

/** Everything else is stored even if the start height of new addresses cannot be determined now. */
async function finish(deps: ScanDeps, reader: NetworkReader, read: ScanReading): Promise<ScanReport> {
  const { position, book, result, startHeight } = read
  const first = position === null ? result : null
  const [planned] = await Promise.allSettled([planEnrolment(reader, { book, startHeight, first })])
  const enrolment = planned.status === 'fulfilled' ? planned.value : nobody
  reach('scan.read')
  const stored = await store(deps, { ...read, network: reader.network, enrolment })
  if (planned.status === 'rejected') throw planned.reason
  return {
    network: reader.network,
    stored,
    rewound: result.rewoundTo !== null,
    movedOn: result.proved.length > 0,
    dissent: result.dissent,
    enrolled: enrolment.addresses.length,
    headHeight: result.headHeight,
    finalHeight: result.cursor.final.height,
    more: result.more,
  }
}

type ScanCommit = ScanReading & { network: NetworkName; enrolment: Enrolment }

function store(deps: ScanDeps, storing: ScanCommit): Promise<number> {
  const { lease, position, book, result, network } = storing
  const { rewoundTo } = result
  const epoch = (position?.epoch ?? 0) + (rewoundTo === null ? 0 : 1)
  const now = deps.now()
  return inTransaction(deps.db, async (tx) => {
    // Must come first: a reader of block ranges waits here, and so never holds a lock that this transaction waits for.
    await keepLease(tx, lease, deps.leaseMs)
    const withdraw = (gone: readonly ObservedChainTransfer[]) =>
      appendChainTransfers(
        tx,
        gone.map((one) => ({ ...one, stage: 'orphaned', epoch, receivedAt: now })),
      )
    // Must precede the new transfers: they belong to the new history, and a later change may withdraw them again.
    const rewound =
      rewoundTo === null ? 0 : await withdraw(await rewoundChainTransfers(tx, network, rewoundTo))
    const found = foundChainTransfers({ transfers: result.transfers, book, epoch, now })
    const count = await appendChainTransfers(tx, found)
    const above = rewoundTo ?? position?.cursor.final.height ?? -1n
    const upTo = result.cursor.final.height
    const vanished = await withdraw(await vanishedChainTransfers(tx, { network, above, upTo }))
    await storeCoverage(tx, deps, storing)
    reach('scan.in_transaction')
    await savePosition(tx, lease, { result, epoch })
    return rewound + count + vanished
  })
}

async function storeCoverage(
  tx: Transaction<Tables>,
  deps: ScanDeps,
  { network, result, enrolment }: ScanCommit,
): Promise<void> {
  const { rewoundTo, proved, movements, cursor } = result
  const { height } = cursor.final
  assert(
    proved.every(({ from, to }) => from <= to && to <= height),
    `a scan proves nothing above its cursor at ${height}`,
  )
  if (rewoundTo !== null) {
    await withdrawCoverage(tx, network, { from: rewoundTo + 1n, to: null })
    await withdrawMovements(tx, network, rewoundTo)
    await rewindBalances(tx, network, rewoundTo)
  }
  await appendMovements(tx, movements)
  const assets = (deps.assets.get(network) ?? []).toSorted()
  const watched = await enrolAddresses(tx, network, enrolment)
  await addCoverage(tx, network, { watched, assets, proved })
  await saveScanPosition(tx, network, { assets, height })
}

function savePosition(
  tx: Transaction<Tables>,
  lease: Lease,
  { result, epoch }: { result: ScanResult; epoch: number },
) {
  const { cursor, headHeight, more: isBehind } = result
  const progress = { head: Number(headHeight), final: Number(cursor.final.height), epoch }
  return moveCursor(tx, lease, { cursor: encodePosition({ cursor, epoch }), progress, isBehind })
}

/** Clocks differ, and a service creates an address before the address book has it. */
const createdMarginMs = 600_000

/** The genesis block has no transfers. */
const firstHeight = 1n

type Newcomers = {
  book: readonly WatchEntry[]
  startHeight: bigint | null
  /** Null for all scans after the first. */
  first: ScanResult | null
}

/**
 * Covers from the start of the first scan, or the creation of the oldest address, but never below the configured start
 * height.
 */
async function planEnrolment(
  reader: Pick<OnDemandReader, 'heightAt'>,
  { book, startHeight, first }: Newcomers,
): Promise<Enrolment> {
  const fresh = book.filter((entry) => entry.number === null)
  const addresses = [...new Set(fresh.map(({ address }) => address))]
  const lowest = startHeight === null || startHeight < firstHeight ? firstHeight : startHeight
  if (first !== null) return { addresses, fromHeight: firstRead(first, startHeight === null ? null : lowest) }
  if (addresses.length === 0) return { addresses, fromHeight: lowest }
  const oldest = fresh.reduce((least, { createdAt }) => Math.min(least, createdAt.getTime()), Infinity)
  const height = (await reader.heightAt(new Date(oldest - createdMarginMs))) ?? lowest
  return { addresses, fromHeight: height < lowest ? lowest : height }
}

function firstRead({ cursor }: ScanResult, lowest: bigint | null): bigint {
  const above = cursor.final.height + 1n
  return lowest === null || lowest > above ? above : lowest
}
