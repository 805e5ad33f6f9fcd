import { numberToHex, type RpcTransactionReceipt } from 'viem'
import type { Address, TxId } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { connections, defaultBounds, defaultReading, type ReaderOptions } from '../options.ts'
import { Pool, refusal, requireIdentity } from '../pool.ts'
import { nodesWithout, Quorum } from '../quorum.ts'
import type {
  ChainTransfer,
  FullChainReader,
  NetworkSettings,
  RangeRequest,
  RangeResult,
  TransactionReading,
} from '../types.ts'
import { readBalances } from './balances.ts'
import { paymentsOf } from './blocks.ts'
import { readEnds, readFinalHead } from './finality.ts'
import { type EvmBlock, type NativePayment, readHeader } from './headers.ts'
import { identityFaults, requireChain } from './identity.ts'
import { readMovements } from './movements.ts'
import { nativeTransfer, withoutPayments } from './native.ts'
import { ask, type EvmNode, openNode } from './node.ts'
import { findReceipt, requireInBlock } from './receipts.ts'
import { scanOn } from './scan.ts'
import { readInside, tracingNodes } from './traces.ts'
import { readTrack, tokenTransfer, trackBlocksMax } from './track.ts'
import { isTransfer, parseTransfer } from './transfer-log.ts'
import { type EvmScan, watchOf } from './watch.ts'

const noAddresses: ReadonlySet<Address> = new Set()

/**
 * A scan stays on one node; if it fails, the next one does the whole scan. With a quorum, only agreed results count.
 * @throws Fault `settings_bad` without a URL or a chain id
 */
export function createEvmReader(settings: NetworkSettings, options: ReaderOptions = {}): FullChainReader {
  const { name, chainId } = settings
  if (chainId === null) throw new Fault('settings_bad', { faults: [`network ${name} has no chain id`] })
  const bounds = { ...defaultBounds, ...options.bounds }
  const poolOf = (nodes: readonly EvmNode[]) =>
    new Pool({
      nodes,
      restMs: bounds.restMs,
      identify: (node) => requireChain(node, settings),
      observe: ({ host, score }) => options.observeNode?.({ network: name, node: host, score }),
    })
  const pool = poolOf(connections(settings, options).map(openNode))
  const scanOf = (node: EvmNode, watched: ReadonlySet<Address>): EvmScan => ({
    node,
    watch: watchOf(settings, watched),
    bounds,
  })
  const { quorum: size } = settings.reading ?? defaultReading
  const quorumOf = (nodes: Pool<EvmNode>) =>
    new Quorum({
      network: name,
      pool: nodes,
      quorum: size,
      finalHeight: async (node) => (await readFinalHead(scanOf(node, noAddresses)))?.height ?? null,
    })
  const quorum = quorumOf(pool)
  const onNode = <Result>(watched: ReadonlySet<Address>, read: (scan: EvmScan) => Promise<Result>) =>
    pool.onFirst((node) => read(scanOf(node, watched)))
  return {
    network: name,
    scan: (request) => quorum.scan(request, (node, asked) => scanOn(scanOf(node, asked.watched), asked)),
    readRange: async (request) => {
      const tracing = request.traced === true ? await tracingNodes(pool) : []
      const traced = tracing.length >= size
      const quorumForRange = traced ? quorumOf(poolOf(tracing)) : quorum
      return quorumForRange.readRange({ ...request, traced }, (node, asked) =>
        readRange(scanOf(node, asked.watched), asked),
      )
    },
    readTransaction: (tx, watched) =>
      quorum.readTransaction((node) => readTransaction(scanOf(node, watched), tx)),
    nodesWithout: (tx) => nodesWithout(pool, (node) => readTransaction(scanOf(node, noAddresses), tx)),
    timeAt: (height) => onNode(noAddresses, async ({ node }) => (await readHeader(node, height)).at),
    heightAt: (at) => onNode(noAddresses, (scan) => heightAt(scan, at)),
    readBalances: (request) => readBalances(pool, (node) => scanOf(node, noAddresses), request),
    readMovements: (request) => onNode(request.addresses, (scan) => readMovements(scan, request)),
    checkIdentity: () =>
      requireIdentity(pool.nodes, (node) => identityFaults(node, settings, bounds.requestsAtOnce)),
  }
}

/**
 * Reads as much as one scan does. `reached` is below `from` if no block of the range is final yet.
 * @throws Fault `remote_failed` if the node's answers are not credible
 */
async function readRange(context: EvmScan, { from, to, traced }: RangeRequest): Promise<RangeResult> {
  const scan = traced === true ? { ...context, watch: { ...context.watch, traced } } : context
  const final = (await readFinalHead(scan))?.height ?? -1n
  const bound = from + blocksMax(scan) - 1n
  const end = [to, final, bound].reduce((low, height) => (height < low ? height : low))
  if (end < from) return { transfers: [], movements: [], proved: [], dissent: [], reached: from - 1n }
  const track = await readTrack(scan, { stage: 'final', from, to: end, previous: null, isLast: true })
  const reached = track.last.height
  return {
    transfers: track.transfers.map(({ stage: _final, ...transfer }) => transfer),
    movements: track.movements,
    proved: [{ from, to: reached }],
    dissent: [],
    reached,
    reachedHash: track.last.hash,
  }
}

/** A trace costs a node many times as much as a block. */
function blocksMax(scan: EvmScan): bigint {
  const { tracesPerReading } = scan.bounds
  const most = trackBlocksMax(scan)
  return scan.watch.traced && most > tracesPerReading ? tracesPerReading : most
}

/** In Unix seconds; null if the node does not have the block. */
type HeightTime = { height: bigint; at: bigint | null }

/**
 * Null if the first available block is later. A missing block never raises the answer.
 * @throws Fault `remote_failed`
 */
async function heightAt(scan: Pick<EvmScan, 'node' | 'watch'>, at: Date): Promise<bigint | null> {
  // Block times are whole seconds.
  const time = BigInt(Math.floor(at.getTime() / 1000))
  const { node } = scan
  const final = await readFinalHead(scan)
  if (final === null) throw refusal(node, 'final block', 'the node has none yet')
  const above = { height: final.height, at: secondsOf(final.at) }
  if (above.at <= time) return above.height
  const first = await timeOf(node, 0n)
  if (first.at !== null && first.at > time) return null
  const last = await search({ below: first, above, time }, (height) => timeOf(node, height))
  if (last === 'missing') throw refusal(node, 'blocks by their time', 'the node lacks some of them')
  return last.at === null ? null : last.height
}

type HeightSearch = { below: HeightTime; above: { height: bigint; at: bigint }; time: bigint }

/** `missing` if a block is unavailable although an older one is: the result would be arbitrary. */
async function search(
  { below, above, time }: HeightSearch,
  read: (height: bigint) => Promise<HeightTime>,
): Promise<HeightTime | 'missing'> {
  for (let step = 0; above.height - below.height > 1n; step++) {
    const height = step % 2 === 0 ? likelyHeight(below, above, time) : middle(below, above)
    const found = await read(height)
    if (found.at === null && below.at !== null) return 'missing'
    if (found.at !== null && found.at > time) above = { height, at: found.at }
    else below = found
  }
  return below
}

async function timeOf(node: EvmNode, height: bigint): Promise<HeightTime> {
  const block = await ask(node, `block ${height}`, (request) =>
    request({ method: 'eth_getBlockByNumber', params: [numberToHex(height), false] }),
  )
  return { height, at: block === null ? null : BigInt(block.timestamp) }
}

/** Blocks come at an even pace: a few guesses suffice, where halving takes thirty. */
function likelyHeight(below: HeightTime, above: { height: bigint; at: bigint }, time: bigint): bigint {
  if (below.at === null) return middle(below, above)
  const height = below.height + ((above.height - below.height) * (time - below.at)) / (above.at - below.at)
  return height <= below.height ? below.height + 1n : height
}

function middle(below: HeightTime, above: { height: bigint }): bigint {
  return (below.height + above.height) / 2n
}

function secondsOf(at: Date): bigint {
  return BigInt(at.getTime()) / 1000n
}

/**
 * Reports what a scan would. A failed transaction stays unknown until its block is final, because it may still succeed
 * in another. One that credited something, as deposits to a rollup do, is reported like any other.
 * @throws Fault `remote_failed` if the node's answers are not credible
 */
async function readTransaction(scan: EvmScan, tx: TxId): Promise<TransactionReading> {
  // Read before the receipt: what was final then is still final.
  const { final } = await readEnds(scan)
  const receipt = await findReceipt(scan.node, tx)
  if (receipt === null) return { kind: 'unknown' }
  const block = await readHeader(scan.node, BigInt(receipt.blockNumber))
  requireInBlock(scan.node, receipt, block)
  const stage = final !== null && block.height <= final.height ? 'final' : 'seen'
  const offered = await readPayments(scan, receipt, block)
  const payments = receipt.status === '0x1' ? offered : offered.filter(({ index }) => index === 'mint')
  if (receipt.status !== '0x1' && payments.length === 0)
    return stage === 'final' ? { kind: 'failed', height: block.height } : { kind: 'unknown' }
  const inside = await readInside(scan, scan.watch.traced ? [block] : [])
  const transfers = [
    ...tokenTransfers(scan, receipt, { block, payments }),
    ...coinTransfers(scan, { block, payments }),
    ...inside.transfers.filter((transfer) => transfer.tx === tx),
  ]
  return { kind: 'read', transfers: transfers.map((transfer) => ({ ...transfer, stage })) }
}

type BlockPayments = { block: EvmBlock; payments: readonly NativePayment[] }

function tokenTransfers(
  scan: EvmScan,
  { logs }: RpcTransactionReceipt,
  { block, payments }: BlockPayments,
): ChainTransfer[] {
  const blocks = new Map([[block.height, block]])
  const found = logs.map((log) => parseTransfer(scan.watch, log))
  return withoutPayments(scan, found.filter(isTransfer), payments).map((log) =>
    tokenTransfer(scan, blocks, log),
  )
}

function coinTransfers(scan: EvmScan, { block, payments }: BlockPayments): ChainTransfer[] {
  const { native } = scan.watch
  return native === null ? [] : payments.map((payment) => nativeTransfer(scan, native, { block, payment }))
}

async function readPayments(
  scan: EvmScan,
  receipt: RpcTransactionReceipt,
  block: EvmBlock,
): Promise<NativePayment[]> {
  const { native, recipients } = scan.watch
  const parties = [receipt.from, receipt.to ?? receipt.from].map((party) => party.toLowerCase() as Address)
  if (native === null || !parties.some((party) => recipients.has(party))) return []
  const hash = receipt.transactionHash
  const transaction = await ask(scan.node, `transaction ${hash}`, (request) =>
    request({ method: 'eth_getTransactionByHash', params: [hash] }),
  )
  if (transaction?.blockHash !== block.hash)
    throw refusal(
      scan.node,
      `transaction ${hash}`,
      `it belongs to another block than the one at ${block.height}`,
    )
  return paymentsOf(scan.watch, transaction)
}
