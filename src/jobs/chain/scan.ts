import type { Kysely, Transaction } from 'kysely'
import type { ChainReader, OnDemandReader, ScanResult } from '../../chain/port.ts'
import type { Address, AssetKey, NetworkName } from '../../core/asset.ts'
import { assert, Fault } from '../../core/errors.ts'
import type { ObservedChainTransfer } from '../../core/evidence.ts'
import { reach } from '../../failpoint.ts'
import { rewindBalances } from '../../store/chain/balance-points.ts'
import {
  type Enrolment,
  enrolAddresses,
  readWatchList,
  type WatchEntry,
} from '../../store/chain/chain-watch.ts'
import { addCoverage, saveStanding, withdrawCoverage } from '../../store/chain/coverage.ts'
import { appendMovements, withdrawMovements } from '../../store/chain/movements.ts'
import { appendSightings, rewoundSightings, vanishedSightings } from '../../store/chain/sightings.ts'
import { inTransaction } from '../../store/database.ts'
import { keepLease, type Lease, moveCursor, takeLease, underLease } from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'
import { foundSightings } from './found-sightings.ts'
import { decodePosition, encodePosition, type ScanPosition, scanStream } from './scan-position.ts'

export type NetworkReader = ChainReader & Pick<OnDemandReader, 'readRange' | 'heightAt'>

export type ScanDeps = {
  db: Kysely<Tables>
  /** Names this process among those that may scan. */
  holder: string
  leaseMs: number
  /** Where the first scan of a network begins; without it, at what is final then. */
  startHeights: ReadonlyMap<NetworkName, bigint>
  /** What is read on each network. */
  assets: ReadonlyMap<NetworkName, readonly AssetKey[]>
  now: () => Date
}

export type ScanReport = {
  network: NetworkName
  /** Sightings that are new, and how many of them say that a transfer is gone. */
  stored: number
  withdrawn: number
  /** The chain's final history changed below what was read. */
  rewound: boolean
  /** Something became final, as far as enough nodes agree; and who differs from them. */
  movedOn: boolean
  dissent: readonly string[]
  /** Addresses that reading took up with this scan. */
  enrolled: number
  headHeight: bigint
  finalHeight: bigint
  more: boolean
}

/**
 * Reads one network on from where it stands and stores what was found together with the new place.
 * @returns null while another process scans this network.
 */
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
 * Reads one network on from a height that may be far below where it stands, on the chain as it is now. What was final
 * from there on is withdrawn where that chain does not have it.
 * @returns null while another process scans this network.
 * @throws Fault `usage_bad` where the chain is not final up to that height
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
        problem: `${reader.network} is final up to ${height} only`,
        mend: `give a height up to ${height + 1n}`,
      })
    }
    // Where reading goes on says nothing of where an address was made that came meanwhile.
    const startHeight = deps.startHeights.get(reader.network) ?? null
    return finish(deps, reader, { ...started, result: { ...read, rewoundTo: from - 1n }, startHeight })
  })
}

type ScanContext = { lease: Lease; position: ScanPosition | null; book: readonly WatchEntry[] }

/** @returns null while another process scans this network. */
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

/** Where new addresses belong may be unknown for now; what was read for the others is stored all the same. */
async function finish(deps: ScanDeps, reader: NetworkReader, read: ScanReading): Promise<ScanReport> {
  const { position, book, result, startHeight } = read
  const first = position === null ? result : null
  const [planned] = await Promise.allSettled([planEnrolment(reader, { book, startHeight, first })])
  const enrolment = planned.status === 'fulfilled' ? planned.value : nobody
  reach('scan.read')
  const { stored, withdrawn } = await store(deps, { ...read, network: reader.network, enrolment })
  if (planned.status === 'rejected') throw planned.reason
  return {
    network: reader.network,
    stored,
    withdrawn,
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

function store(deps: ScanDeps, storing: ScanCommit): Promise<Pick<ScanReport, 'stored' | 'withdrawn'>> {
  const { lease, position, book, result, network } = storing
  const epoch = (position?.epoch ?? 0) + (result.rewoundTo === null ? 0 : 1)
  const now = deps.now()
  return inTransaction(deps.db, async (tx) => {
    // First of all: who reads a stretch of the same network waits here, and so never waits for what this one waits for.
    await keepLease(tx, lease, deps.leaseMs)
    const withdraw = (gone: readonly ObservedChainTransfer[]) =>
      appendSightings(
        tx,
        gone.map((one) => ({ ...one, stage: 'orphaned', epoch, receivedAt: now })),
      )
    // Before what was found: that is part of the new history, and a later change may withdraw it again.
    const rewound = await withdraw(await rewoundBy(tx, network, result))
    const found = foundSightings({ transfers: result.transfers, book, epoch, now })
    const count = await appendSightings(tx, found)
    const vanished = await withdraw(await vanishedBy(tx, network, { result, position }))
    await storeCoverage(tx, deps, storing)
    reach('scan.in_transaction')
    await savePosition(tx, lease, { result, epoch })
    return { stored: rewound + count + vanished, withdrawn: rewound + vanished }
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
  await saveStanding(tx, network, { assets, height })
}

/** What the store believes to be final and this scan has shown to be gone. */
async function rewoundBy(
  tx: Transaction<Tables>,
  network: NetworkName,
  { rewoundTo }: ScanResult,
): Promise<ObservedChainTransfer[]> {
  return rewoundTo === null ? [] : rewoundSightings(tx, network, rewoundTo)
}

/** Early sightings that are not among what this scan has shown to be final at their height. */
function vanishedBy(
  tx: Transaction<Tables>,
  network: NetworkName,
  { result, position }: { result: ScanResult; position: ScanPosition | null },
): Promise<ObservedChainTransfer[]> {
  const above = result.rewoundTo ?? position?.cursor.final.height ?? -1n
  return vanishedSightings(tx, { network, above, upTo: result.cursor.final.height })
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

/** Clocks differ, and a service makes an address before the book has it. */
const createdMarginMs = 600_000

/** No transfer is in the genesis block. */
const firstHeight = 1n

type Newcomers = {
  book: readonly WatchEntry[]
  /** Where the settings say that reading of this network begins. */
  startHeight: bigint | null
  /** What the network's very first scan read; null for all others. */
  first: ScanResult | null
}

/**
 * Which addresses reading has not taken up yet, and from where on they are wanted: from the beginning of the first scan,
 * or from where the oldest of them was made, never below what the settings say.
 */
async function planEnrolment(
  reader: Pick<OnDemandReader, 'heightAt'>,
  { book, startHeight, first }: Newcomers,
): Promise<Enrolment> {
  const fresh = book.filter((entry) => entry.number === null)
  const addresses = [...new Set(fresh.map(({ address }) => address))]
  const lowest = startHeight === null || startHeight < firstHeight ? firstHeight : startHeight
  if (first !== null) return enrolAt(addresses, firstRead(first, startHeight === null ? null : lowest))
  if (addresses.length === 0) return enrolAt(addresses, lowest)
  const oldest = fresh.reduce((least, { createdAt }) => Math.min(least, createdAt.getTime()), Infinity)
  const height = (await reader.heightAt(new Date(oldest - createdMarginMs))) ?? lowest
  return enrolAt(addresses, height < lowest ? lowest : height)
}

function enrolAt(addresses: readonly Address[], fromHeight: bigint): Enrolment {
  return { addresses, fromHeight }
}

/** Without a setting the first scan begins above what is final then. */
function firstRead({ cursor }: ScanResult, lowest: bigint | null): bigint {
  const above = cursor.final.height + 1n
  return lowest === null || lowest > above ? above : lowest
}
