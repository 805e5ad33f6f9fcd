import type { Hex, RpcTransactionReceipt } from 'viem'
import { numberToHex } from 'viem/utils'
import { type Address, type AssetKey, assetCode, nativeDecimals, type TxId } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { assembleReader } from '../assemble-reader.ts'
import { type DatedHeight, heightAt, lowest, nothingRead } from '../heights.ts'
import { StatedError } from '../json-rpc.ts'
import { connections, defaultBounds, type ReaderOptions, rpcSetting } from '../options.ts'
import { refusal } from '../pool.ts'
import type {
  FullChainReader,
  NetworkSettings,
  RangeRequest,
  RangeResult,
  TransactionReading,
} from '../types.ts'
import { readBalances } from './balances.ts'
import { paymentsOf } from './blocks.ts'
import { finalityFaults, readEnds, readFinalHead } from './finality.ts'
import { type EvmBlock, type NativePayment, readHeader, requireInBlock } from './headers.ts'
import { readMovements } from './movements.ts'
import { coinTransfer, withoutPayments } from './native.ts'
import { ask, type EvmNode, type EvmRequest, type EvmScan, openNode, watchOf } from './node.ts'
import { findReceipt } from './receipts.ts'
import { scanOn } from './scan.ts'
import { readInside, traceFaults, tracingNodes } from './traces.ts'
import { readTrack, tokenTransfer, trackBlocksMax } from './track.ts'
import { isTransfer, parseTransfer } from './transfer-log.ts'

/** @throws Fault `settings_bad` without a URL or a chain id */
export function createEvmReader(settings: NetworkSettings, options: ReaderOptions = {}): FullChainReader {
  const { name, chainId } = settings
  if (chainId === null) throw new Fault('settings_bad', { faults: [`network ${name} has no chain id`] })
  const bounds = { ...defaultBounds, ...options.bounds }
  const scanOf = (node: EvmNode, watched: ReadonlySet<Address>): EvmScan => ({
    node,
    watch: watchOf(settings, watched),
    bounds,
  })
  const { pool, onNode, reader } = assembleReader(settings, options, {
    nodes: connections(settings, options).map(openNode),
    scanOf,
    chainFaults: (node) => chainFaults(node, settings),
    settingsFaults: async (node) => [
      ...(await finalityFaults(node, settings)),
      ...(await traceFaults(node, settings)),
    ],
    nameOf: ({ name: node }) => node,
    readDecimals,
    tracingNodes,
    finalHeight: async (scan) => (await readFinalHead(scan))?.height ?? null,
    scan: scanOn,
    readRange,
    readTransaction,
    heightAt: lastBlockAt,
    timeAt: async ({ node }, height) => (await readHeader(node, height)).at,
  })
  return {
    ...reader,
    readBalances: (request) => readBalances(pool, (node) => scanOf(node, new Set()), request),
    readMovements: (request) => onNode((scan) => readMovements(scan, request), request.addresses),
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
  const end = lowest(to, final, bound)
  if (end < from) return nothingRead(from)
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

/** @throws Fault `remote_failed` */
async function lastBlockAt(scan: EvmScan, wanted: Date): Promise<bigint | null> {
  const { node } = scan
  const final = await readFinalHead(scan)
  if (final === null) throw refusal(node, 'final block', 'the node has none yet')
  return heightAt({ node, first: 0n, final, wanted }, (height) => timeOf(node, height))
}

async function timeOf(node: EvmNode, height: bigint): Promise<DatedHeight> {
  const block = await ask(node, `block ${height}`, (request) =>
    request({ method: 'eth_getBlockByNumber', params: [numberToHex(height), false] }),
  )
  return { height, at: block === null ? null : new Date(Number(BigInt(block.timestamp)) * 1000) }
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
  requireInBlock(scan.node, `receipt of ${tx}`, { blockHash: receipt.blockHash, block })
  const stage = final !== null && block.height <= final.height ? 'final' : 'seen'
  const offered = await readPayments(scan, receipt, block)
  const payments = receipt.status === '0x1' ? offered : offered.filter(({ index }) => index === 'mint')
  if (receipt.status !== '0x1' && payments.length === 0)
    return stage === 'final' ? { kind: 'failed', height: block.height } : { kind: 'unknown' }
  const inside = await readInside(scan, scan.watch.traced ? [block] : [])
  const logs = receipt.logs.map((log) => parseTransfer(scan.watch, log))
  const transfers = [
    ...withoutPayments(scan, logs.filter(isTransfer), payments).map((log) => tokenTransfer(scan, block, log)),
    ...payments.map((payment) => coinTransfer(scan, block, payment)),
    ...inside.transfers.filter((transfer) => transfer.tx === tx),
  ]
  return { kind: 'read', transfers: transfers.map((transfer) => ({ ...transfer, stage })) }
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
  requireInBlock(scan.node, `transaction ${hash}`, { blockHash: transaction?.blockHash, block })
  return transaction === null ? [] : paymentsOf(scan.watch, transaction)
}

/** Empty if the node is of the right chain. */
async function chainFaults(node: EvmNode, { name, chainId }: NetworkSettings): Promise<string[]> {
  const found = Number(await ask(node, 'chain id', (request) => request({ method: 'eth_chainId' })))
  return found === chainId
    ? []
    : [`${rpcSetting(name)}: expected chain id ${chainId}, found ${found} (${node.name})`]
}

/** Null if there is no token at its address. */
async function readDecimals(node: EvmNode, key: AssetKey): Promise<number | null> {
  const code = assetCode(key)
  if (code === 'native') return nativeDecimals.evm
  return ask(node, `decimals of ${key}`, (request) => callDecimals(request, code as Hex))
}

/** The selector of `decimals()`. */
const decimalsCall = '0x313ce567'

/** The largest `uint8`. */
const decimalsMax = 255n

async function callDecimals(request: EvmRequest, contract: Hex): Promise<number | null> {
  try {
    const call = { to: contract, data: decimalsCall } as const
    const answer = await request({ method: 'eth_call', params: [call, 'latest'] })
    if (!/^0x[0-9a-f]{64}$/i.test(answer) || BigInt(answer) > decimalsMax) return null
    return Number(BigInt(answer))
  } catch (error) {
    const isRevert = error instanceof StatedError && (error.code === 3 || /revert/i.test(error.message))
    if (isRevert) return null
    throw error
  }
}
