import type { Hex, RpcBlock } from 'viem'
import { numberToHex } from 'viem/utils'
import type { Address, TxId } from '../../core/asset.ts'
import { toAmount } from '../../core/money.ts'
import { refusal } from '../pool.ts'
import type { BlockMark, ChainTransfer } from '../types.ts'
import { ask, askInBatch, type EvmNode, type EvmRequest, type EvmScan } from './node.ts'

/** It counts if its receipt succeeded. A `mint`, from a deposit to a rollup, stands even if the transaction fails. */
export type NativePayment = {
  tx: TxId
  index: 'native' | 'mint'
  from: Address | null
  to: Address
  value: bigint
}

/** The sender pays the fee, and the value if the transaction succeeds. */
export type NativeSpending = { tx: TxId; from: Address; to: Address | null; value: bigint }

/** A few hundred bytes, regardless of the block's size. */
export type EvmBlock = {
  height: bigint
  hash: Hex
  parentHash: Hex
  at: Date
  bloom: Hex
  transactions: number
  payments: readonly NativePayment[]
  spendings: readonly NativeSpending[]
}

/** @throws Fault `remote_failed` */
export async function readHeader(
  node: EvmNode,
  at: bigint | 'latest' | 'finalized' | 'safe',
): Promise<EvmBlock> {
  return ask(node, `block ${at}`, (request) => requestHeader(node, request, at))
}

/**
 * Requests headers one by one and sends them in full batches. Surplus requests wait here, because time in the node's
 * queue counts against their deadline.
 */
export class HeaderQueue {
  readonly #scan: Pick<EvmScan, 'node' | 'bounds'>
  readonly #waiting: (() => void)[] = []
  #underWay = 0
  #flushing = false

  constructor(scan: Pick<EvmScan, 'node' | 'bounds'>) {
    this.#scan = scan
  }

  get length(): number {
    return this.#waiting.length + this.#underWay
  }

  async read(height: bigint): Promise<EvmBlock> {
    const { node } = this.#scan
    await new Promise<void>((start) => {
      this.#waiting.push(start)
      this.#sendBatches()
    })
    try {
      return await askInBatch(node, `block ${height}`, (request) => requestHeader(node, request, height))
    } finally {
      this.#underWay--
      this.#sendBatches()
    }
  }

  flush(): void {
    this.#flushing = true
    this.#sendBatches()
  }

  #sendBatches(): void {
    const { requestsPerBatch, requestsAtOnce } = this.#scan.bounds
    const underWayMax = requestsPerBatch * requestsAtOnce * 2
    const least = this.#flushing ? 1 : requestsPerBatch
    while (this.#waiting.length >= least && this.#underWay + requestsPerBatch <= underWayMax) {
      const batch = this.#waiting.splice(0, requestsPerBatch)
      this.#underWay += batch.length
      for (const start of batch) start()
    }
    if (this.#waiting.length === 0) this.#flushing = false
  }
}

async function requestHeader(
  node: EvmNode,
  request: EvmRequest,
  at: bigint | 'latest' | 'finalized' | 'safe',
): Promise<EvmBlock> {
  const position = typeof at === 'bigint' ? numberToHex(at) : at
  const block = await request({ method: 'eth_getBlockByNumber', params: [position, false] })
  return toBlock(node, block, { requested: at, payments: [], spendings: [] })
}

export function toBlock(
  node: EvmNode,
  block: RpcBlock | null,
  { requested, ...found }: { requested: bigint | string } & Pick<EvmBlock, 'payments' | 'spendings'>,
): EvmBlock {
  if (block === null) throw refusal(node, `block ${requested}`, 'block not found')
  const { hash, parentHash, timestamp, logsBloom, transactions } = block
  const height = block.number === null ? null : BigInt(block.number)
  if (height === null || hash === null || (typeof requested === 'bigint' && height !== requested))
    throw refusal(node, `block ${requested}`, `the node answered with block ${height}`)
  return {
    height,
    hash,
    parentHash,
    at: new Date(Number(BigInt(timestamp)) * 1000),
    bloom: logsBloom ?? '0x',
    transactions: transactions.length,
    ...found,
  }
}

/** @throws Fault `remote_failed` if it belongs to another block */
export function requireInBlock(
  node: EvmNode,
  what: string,
  { blockHash, block }: { blockHash: string | null | undefined; block: Partial<BlockMark> | undefined },
): void {
  if (block !== undefined && blockHash === block.hash) return
  throw refusal(node, what, `it belongs to another block than the one at ${block?.height}`)
}

type MovedAmount = Pick<ChainTransfer, 'tx' | 'index' | 'asset' | 'from' | 'to'> & { value: bigint }

export function transferIn(
  { watch }: EvmScan,
  { height, hash, at }: EvmBlock,
  { value, ...moved }: MovedAmount,
): ChainTransfer {
  const network = watch.network
  return { network, ...moved, amount: toAmount(value), height, blockHash: hash, blockAt: at }
}

export type BlockLink = Pick<EvmBlock, 'hash' | 'parentHash'>

/** Refuses two histories in one range: a transfer could be missed between them. */
export function checkLinks(
  node: EvmNode,
  links: ReadonlyMap<bigint, BlockLink>,
  previous: BlockMark | null,
): void {
  for (const [height, { parentHash }] of links) {
    const below =
      links.get(height - 1n)?.hash ?? (previous?.height === height - 1n ? previous.hash : undefined)
    if (below !== undefined && below !== parentHash) {
      throw refusal(
        node,
        `block ${height}`,
        `its parent is ${parentHash}, but block ${height - 1n} is ${below}`,
      )
    }
  }
}
