import type { Hex, RpcLog, RpcTransactionReceipt } from 'viem'
import { hexToBytes, keccak256, numberToHex } from 'viem/utils'
import type { Address, TxId } from '../../core/asset.ts'
import { mapBounded } from '../map-bounded.ts'
import { refusal } from '../pool.ts'
import type { BlockMark } from '../types.ts'
import type { Blocks } from './blocks.ts'
import { type EvmBlock, requireInBlock } from './headers.ts'
import { ask, type EvmNode, type EvmScan, type EvmWatch } from './node.ts'
import {
  addressOf,
  emittersOf,
  isTransfer,
  type OddLog,
  parseTransfer,
  type TransferLog,
  topicOf,
  transferTopic,
} from './transfer-log.ts'

type LogAnswer = {
  logs: readonly TransferLog[]
  /** Contracts that wrote a Transfer, by block; null unless whole contracts were queried. */
  writers: ReadonlyMap<bigint, ReadonlySet<string>> | null
}

/**
 * If the bloom filter of a block may hold a missing transfer, its receipts decide: a node serves them from another
 * index than its logs.
 * @throws Fault `remote_failed` if the receipts hold a transfer that the logs lack
 */
export async function refuseOmissions(
  scan: EvmScan,
  blocks: Blocks,
  { logs, writers }: LogAnswer,
): Promise<void> {
  const known = Map.groupBy(logs, ({ height }) => height)
  const mayHold = bloomProbe(scan.watch, writers)
  const suspects = [...blocks.values()].filter((block) => mayHold(block, known.get(block.height) ?? []))
  await mapBounded(suspects, scan.bounds.requestsAtOnce, (block) =>
    compareReceipts(scan, block, known.get(block.height) ?? []),
  )
}

/**
 * Skips and reports odd logs, if the receipts confirm them. Any balance that they moved shows in the balance proof.
 * @throws Fault `remote_failed` if the receipts hold a transfer that the logs lack
 */
export async function skipOddLogs(
  scan: EvmScan,
  blocks: Blocks,
  { logs, odd }: { logs: readonly TransferLog[]; odd: readonly OddLog[] },
): Promise<void> {
  await mapBounded(odd, scan.bounds.requestsAtOnce, async (log) => {
    const block = blocks.get(log.height ?? -1n)
    const known = logs.filter(({ tx, height }) => (log.tx === null ? height === log.height : tx === log.tx))
    if (log.tx !== null) {
      const receipt = await readReceipt(scan.node, log.tx)
      requireKnown(scan, {
        what: `receipt of ${log.tx}`,
        logs: receipt.logs,
        known,
        problem: 'the log query returned in an invalid format',
      })
    } else if (block !== undefined) await compareReceipts(scan, block, known)
    const { reason, contract, tx } = log
    scan.node.observeOddLog({ network: scan.watch.network, reason, contract, tx })
  })
}

type BloomProbe = (block: EvmBlock, known: readonly TransferLog[]) => boolean

/** Above this, a filter flags every block, and receipts are not worth a request. */
const chanceMax = 0.1

/**
 * True if the filter may hold a transfer to a recipient without a known one or, if whole contracts were queried, by a
 * contract that wrote none.
 */
function bloomProbe(watch: EvmWatch, writers: LogAnswer['writers']): BloomProbe {
  const event = bloomBits(transferTopic)
  const emitters = emittersOf(watch).map((address) => ({
    address,
    bits: bloomBits(address as string as Hex),
  }))
  const recipients = [...(writers === null && emitters.length > 0 ? watch.recipients : [])]
  const parties =
    writers === null
      ? recipients.map((address) => ({ address, bits: bloomBits(topicOf(address)) }))
      : emitters
  return (block, known) => {
    const bloom = parseBloom(block.bloom)
    if (!bloomMayHold(bloom, event) || !emitters.some(({ bits }) => bloomMayHold(bloom, bits))) return false
    if (bloomShare(bloom) ** 3 * parties.length > chanceMax) return false
    const shown = writers === null ? new Set<string>(known.map(({ to }) => to)) : writers.get(block.height)
    return parties.some(({ address, bits }) => shown?.has(address) !== true && bloomMayHold(bloom, bits))
  }
}

async function compareReceipts(scan: EvmScan, block: EvmBlock, known: readonly TransferLog[]): Promise<void> {
  const what = `receipts of block ${block.height}`
  const receipts = await ask(scan.node, what, (request) =>
    request({ method: 'eth_getBlockReceipts', params: [numberToHex(block.height)] }),
  )
  if (receipts?.length !== block.transactions || receipts.some(({ blockHash }) => blockHash !== block.hash)) {
    throw refusal(scan.node, what, 'they belong to another block')
  }
  const logs = receipts.flatMap((receipt) => receipt.logs)
  requireKnown(scan, { what, logs, known, problem: 'the log query omitted' })
}

type ReceiptComparison = {
  what: string
  logs: readonly RpcLog[]
  known: readonly TransferLog[]
  problem: string
}

function requireKnown(scan: EvmScan, { what, logs, known, problem }: ReceiptComparison): void {
  const indexes = new Set(known.map(({ logIndex }) => logIndex))
  for (const log of logs) {
    const found = parseTransfer(scan.watch, log)
    if (isTransfer(found) && !indexes.has(found.logIndex))
      throw refusal(
        scan.node,
        what,
        `they hold a transfer (${found.tx}, log ${found.logIndex}) that ${problem}`,
      )
  }
}

/** Three bits of a block's 2,048-bit log filter (Ethereum Yellow Paper, 4.3.1). */
type BloomBits = readonly [number, number, number]

const bloomBytes = 256

export function bloomBits(value: Hex): BloomBits {
  const hash = hexToBytes(keccak256(value))
  const bit = (place: number) => (((hash[place] ?? 0) << 8) | (hash[place + 1] ?? 0)) & 2047
  return [bit(0), bit(2), bit(4)]
}

/** True proves nothing. */
export function bloomMayHold(bloom: Uint8Array, bits: BloomBits): boolean {
  return bits.every((bit) => ((bloom[bloomBytes - 1 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0)
}

/** Empty if the chain does not maintain the filter. */
export function parseBloom(bloom: Hex): Uint8Array {
  return bloom.length === 2 + bloomBytes * 2 ? hexToBytes(bloom) : new Uint8Array(bloomBytes)
}

/** From 0 to 1. Its third power is the chance of a false positive. */
function bloomShare(bloom: Uint8Array): number {
  let set = 0
  for (const byte of bloom) set += bitsSet[byte] ?? 0
  return set / (bloomBytes * 8)
}

const bitsSet = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length)

/**
 * `Deposit(address,uint256)` and `Withdrawal(address,uint256)`: WETH9 and its copies write no Transfer when wrapping.
 */
export const depositTopic: Hex = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c'
export const withdrawalTopic: Hex = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65'

export type CoinWrap = { tx: TxId; contract: Address; address: Address; value: bigint }

/**
 * Null if the node has none.
 * @throws Fault `remote_failed`, also if the receipt belongs to another transaction or holds a removed log
 */
export async function findReceipt(node: EvmNode, tx: TxId): Promise<RpcTransactionReceipt | null> {
  const what = `receipt of ${tx}`
  const receipt = await ask(node, what, (request) =>
    request({ method: 'eth_getTransactionReceipt', params: [tx as string as Hex] }),
  )
  if (receipt === null) return null
  if (receipt.transactionHash.toLowerCase() !== tx || receipt.logs.some(({ removed }) => removed))
    throw refusal(node, what, 'it belongs to another transaction, or one of its logs was removed')
  return receipt
}

/** @throws Fault `remote_failed`, also if the node has no receipt for it in that block */
export async function readReceipt(
  node: EvmNode,
  tx: TxId,
  block?: BlockMark,
): Promise<RpcTransactionReceipt> {
  const receipt = await findReceipt(node, tx)
  if (receipt === null) throw refusal(node, `receipt of ${tx}`, 'the node has none')
  if (block !== undefined) requireInBlock(node, `receipt of ${tx}`, { blockHash: receipt.blockHash, block })
  return receipt
}

/**
 * False for a vault, which uses these event names for another purpose. It also writes Transfers from or to the zero
 * address, which cover everything that moved.
 */
export function isOfCoin({ logs }: RpcTransactionReceipt, wrapping: CoinWrap): boolean {
  return !logs.some(
    (log) =>
      isBy(log, wrapping) && log.topics[0] === transferTopic && isBetween(log, zeroAddress, wrapping.address),
  )
}

export function isReported(receipt: RpcTransactionReceipt, wrapping: CoinWrap, event: Hex): boolean {
  const reported = receipt.logs.some(
    (log) =>
      isBy(log, wrapping) &&
      log.topics[0] === event &&
      addressOf(log.topics[1]) === wrapping.address &&
      log.data === numberToHex(wrapping.value, { size: 32 }),
  )
  return reported && isOfCoin(receipt, wrapping)
}

const zeroAddress = `0x${'0'.repeat(40)}` as Address

function isBy(log: RpcLog, { contract }: CoinWrap): boolean {
  return log.address.toLowerCase() === contract
}

function isBetween({ topics }: RpcLog, one: Address, other: Address): boolean {
  const ends = topics.slice(1, 3).map(addressOf)
  return ends.includes(one) && ends.includes(other)
}
