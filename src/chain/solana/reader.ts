import { isSignature, type Signature } from '@solana/kit'
import type { TxId } from '../../core/asset.ts'
import { assembleReader } from '../assemble-reader.ts'
import { type DatedHeight, heightAt, lowest, nothingRead } from '../heights.ts'
import { connections, defaultBounds, defaultReading, type ReaderOptions } from '../options.ts'
import { refusal } from '../pool.ts'
import type {
  BlockMark,
  FinalityStage,
  FullChainReader,
  NetworkSettings,
  RangeRequest,
  RangeResult,
  ScanRequest,
  ScanResult,
  TransactionReading,
} from '../types.ts'
import { readBalances, readDecimals } from './accounts.ts'
import { readBalanceHistory } from './balance-history.ts'
import { listBlocks, readBlock, readConfirmed, readFinalMark, readHead, type Unread } from './blocks.ts'
import { readByBlock } from './by-block.ts'
import { readByOwner } from './by-owner.ts'
import {
  findingsOf,
  nothingFound,
  provedRanges,
  reportUnread,
  type SlotRange,
  type SlotRangeReading,
} from './findings.ts'
import {
  type Cluster,
  clusterFaults,
  emptyMemory,
  openNode,
  type SolanaReadStrategy,
  type SolanaScan,
  type SolanaWatch,
  watchOf,
} from './node.ts'
import { firstAvailable } from './signatures.ts'
import { findTransaction, type TransactionEffects } from './transactions.ts'

/**
 * Reads final transactions only.
 * @throws Fault `settings_bad` without a URL
 */
export function createSolanaReader(settings: NetworkSettings, options: ReaderOptions = {}): FullChainReader {
  const bounds = { ...defaultBounds, ...options.bounds }
  const cluster: Cluster = { genesis: settings.genesisHash ?? null }
  const isCompared = (settings.reading ?? defaultReading).quorum > 1
  const nodes = connections(settings, options).map((connection) => ({
    ...openNode(connection),
    memory: emptyMemory(),
  }))
  const { onNode, reader } = assembleReader(settings, options, {
    nodes,
    scanOf: (node: (typeof nodes)[number], watched): SolanaScan => ({
      node,
      watch: watchOf(settings, watched),
      bounds,
      memory: node.memory,
      strategy: options.solanaStrategy ?? null,
    }),
    chainFaults: (node) => clusterFaults(node, settings, cluster),
    settingsFaults: () => Promise.resolve([]),
    nameOf: ({ name }) => `${name}, genesis ${cluster.genesis}`,
    readDecimals,
    tracingNodes: () => Promise.resolve([]),
    finalHeight: async (scan) => (await readFinalMark(scan)).height,
    scan: (scan, request) =>
      scanOn(
        isCompared ? { ...scan, strategy: scan.strategy ?? chooseStrategy(scan.watch, 0) } : scan,
        request,
      ),
    readRange,
    readTransaction,
    heightAt: lastSlotAt,
    timeAt: async (scan, height) => (await blockFrom(scan, height)).at,
  })
  return {
    ...reader,
    readBalances: ({ pairs }) => onNode((scan) => readBalances(scan, pairs)),
    // Scans already show every movement, because transactions state all balances.
    readMovements: () => Promise.resolve([]),
    readBalanceHistory: (request) => onNode((scan) => readBalanceHistory(scan, request)),
  }
}

/**
 * Reads as much as one scan does. `reached` is below `from` if no slot of the range is final yet.
 * @throws Fault `remote_failed` if the node's answers are not credible
 */
async function readRange(context: SolanaScan, { from, to, byBlock }: RangeRequest): Promise<RangeResult> {
  const scan: SolanaScan = byBlock === true ? { ...context, strategy: 'by_block' } : context
  const final = await readFinalMark(scan)
  const last = lowest(to, final.height)
  if (from > last) return nothingRead(from)
  const read = await readSlotRange(scan, { from, to: last, below: null, overlap: 0n })
  reportUnread(scan, from, read)
  return {
    transfers: read.transfers.map(({ stage: _stage, ...transfer }) => transfer),
    movements: read.movements,
    proved: provedRanges(from, read),
    dissent: [],
    reached: read.reached,
  }
}

async function readSlotRange(scan: SolanaScan, range: SlotRange): Promise<SlotRangeReading> {
  const { memory, watch } = scan
  const cheaper = chooseStrategy(watch, Number(range.to - range.from) + 1)
  const strategy = scan.strategy ?? (memory.failed === cheaper ? otherStrategy[cheaper] : cheaper)
  try {
    const reading = await (strategy === 'by_owner' ? readByOwner : readByBlock)(scan, range)
    memory.failed = null
    return reading
  } catch (error) {
    memory.failed = strategy
    throw error
  }
}

const otherStrategy = { by_owner: 'by_block', by_block: 'by_owner' } as const

/** Up to this many, blocks are not read, because they may be large. */
const fewRequests = 16

/** A whole block takes about as long as this many histories. */
const requestsPerBlock = 3

/**
 * A few owners one by one, many by selecting them from every block. An owner takes a request for its history and, for
 * each mint, for its accounts and the history of one. With 0 slots, the choice depends only on the owners: nodes whose
 * answers are compared must read alike, and reading by owner repeats findings from before the range.
 */
export function chooseStrategy(
  { owners, mints }: Pick<SolanaWatch, 'owners' | 'mints'>,
  slots: number,
): SolanaReadStrategy {
  const requests = owners.size * (1 + 2 * mints.size)
  return requests <= Math.max(fewRequests, slots * requestsPerBlock) ? 'by_owner' : 'by_block'
}

/** Null if the first available block is later. @throws Fault `remote_failed` */
async function lastSlotAt(scan: SolanaScan, wanted: Date): Promise<bigint | null> {
  const { height } = await readFinalMark(scan)
  const final = { height, at: (await readBlock(scan, height)).at }
  const first = (await firstAvailable(scan.node)) ?? 0n
  return heightAt({ node: scan.node, first, final, wanted }, (slot) => blockFrom(scan, slot))
}

async function blockFrom(scan: SolanaScan, slot: bigint): Promise<DatedHeight<Date>> {
  const [found] = await listBlocks(scan, slot, 1)
  const head = found === undefined ? null : await readHead(scan, found)
  if (head === null) throw refusal(scan.node, `block from slot ${slot} on`, 'it cannot be read')
  return { height: head.slot, at: head.at }
}

/**
 * Reports what a scan would. A failed transaction stays unknown until it is final, because it may still be dropped.
 * @throws Fault `remote_failed` if the node's answers are not credible, or the transaction cannot be read
 */
async function readTransaction(scan: SolanaScan, tx: TxId): Promise<TransactionReading> {
  // Callers may pass any base58 text.
  if (!isSignature(tx)) return { kind: 'unknown' }
  const final = await find(scan, tx, 'finalized')
  if (final?.failed === true) return { kind: 'failed', height: final.slot }
  if (final !== null) return toReading(scan, { tx, found: final, stage: 'final' })
  const seen = await find(scan, tx, 'confirmed')
  return seen === null || seen.failed
    ? { kind: 'unknown' }
    : toReading(scan, { tx, found: seen, stage: 'seen' })
}

async function find(
  scan: SolanaScan,
  tx: Signature,
  commitment: 'confirmed' | 'finalized',
): Promise<TransactionEffects | null> {
  const found = await findTransaction(scan, { signature: tx, commitment })
  if (typeof found === 'string') throw refusal(scan.node, `transaction ${tx}`, unreadable[found])
  return found
}

const unreadable: Record<Unread, string> = {
  version: 'its version is not supported',
  owner: 'it does not name the owner of a balance',
}

type StagedTransaction = { tx: TxId; found: TransactionEffects; stage: FinalityStage }

async function toReading(
  scan: SolanaScan,
  { tx, found, stage }: StagedTransaction,
): Promise<TransactionReading> {
  const { slot, changes, memo } = found
  const block = stage === 'final' ? await readBlock(scan, slot) : await readConfirmed(scan, slot)
  if (block === null) return { kind: 'unknown' }
  return {
    kind: 'read',
    transfers: findingsOf(scan.watch, { tx, slot, block, changes, memo, stage }).transfers,
  }
}

/** A final slot may become readable late (about a minute). */
const overlapSlots = 150n

/**
 * The new cursor is the final slot read before any listing or, if there is more than one scan reads, the last slot read
 * completely.
 * @throws Fault `remote_failed` if the node's answers are not credible
 */
async function scanOn(scan: SolanaScan, request: ScanRequest): Promise<ScanResult> {
  const final = await cappedFinal(scan, request)
  const from = firstUnread(scan, request, final.height)
  const read = await readOn(scan, { from, to: final.height, below: request.cursor?.final ?? null })
  reportUnread(scan, from, read)
  const { transfers, movements, reached } = read
  const mark = await markAt(scan, final, reached)
  return {
    transfers,
    movements,
    proved: provedRanges(from, read),
    dissent: [],
    cursor: { final: mark, seenHeight: mark.height, trail: [] },
    headHeight: final.height,
    rewoundTo: null,
    more: reached < final.height,
  }
}

/** A slot below a final one is final too. */
async function cappedFinal(scan: SolanaScan, { finalMax }: ScanRequest): Promise<BlockMark> {
  const final = await readFinalMark(scan)
  if (finalMax === undefined || final.height <= finalMax) return final
  return { height: finalMax, hash: (await readBlock(scan, finalMax)).hash }
}

/** @throws Fault `remote_failed` if the node is behind the cursor */
function firstUnread({ node }: SolanaScan, { cursor, startHeight }: ScanRequest, final: bigint): bigint {
  if (cursor === null) return startHeight ?? final + 1n
  const { height } = cursor.final
  if (final >= height) return height + 1n
  throw refusal(node, 'slot', `it is at ${final}, below slot ${height}, which was read as final`)
}

/** Without an earlier reading, nothing can have come late. */
async function readOn(scan: SolanaScan, range: Omit<SlotRange, 'overlap'>): Promise<SlotRangeReading> {
  if (range.below !== null) return readSlotRange(scan, { ...range, overlap: overlapSlots })
  if (range.from <= range.to) return readSlotRange(scan, { ...range, overlap: 0n })
  return { ...nothingFound, unread: [], reached: range.to }
}

/** @throws Fault `remote_failed` if the final block, once read, is not the one named by its bank */
async function markAt(scan: SolanaScan, final: BlockMark, reached: bigint): Promise<BlockMark> {
  if (reached !== final.height) return { height: reached, hash: (await readBlock(scan, reached)).hash }
  const hash = scan.memory.blocks.get(final.height)?.hash ?? final.hash
  if (hash === final.hash) return final
  throw refusal(scan.node, `block ${final.height}`, `its hash is ${hash}, but its bank reports ${final.hash}`)
}
