import type { Hex, Block as ViemBlock } from 'viem'
import { getBlock } from 'viem/actions'
import type { Address, TxId } from '../../core/asset.ts'
import type { BlockMark } from '../types.ts'
import { ask, askTogether, type EvmNode, refusal } from './node.ts'
import type { EvmScan } from './watch.ts'

/**
 * A payment of the native coin by a transaction itself. Its receipt decides whether it happened. A `mint`, which a
 * rollup credits to the sender of a deposit from the parent chain, stands even if the transaction fails.
 */
export type NativePayment = {
  tx: TxId
  index: 'native' | 'mint'
  from: Address | null
  to: Address
  value: bigint
}

/** A transaction sent by a watched address, which pays the fee, and the value if the transaction succeeds. */
export type NativeSpending = { tx: TxId; from: Address; to: Address | null; value: bigint }

/** The data kept of a block: a few hundred bytes, regardless of the block's size. */
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

/** Reads the header at a height or tag. @throws Fault `remote_failed` */
export async function readHeader(
  node: EvmNode,
  at: bigint | 'latest' | 'finalized' | 'safe',
): Promise<EvmBlock> {
  const position = typeof at === 'bigint' ? { blockNumber: at } : { blockTag: at }
  const block = await ask(node, `block ${at}`, (client) => getBlock(client, position))
  return toBlock(node, block, { requested: at, payments: [], spendings: [] })
}

/** Headers that are requested one by one and sent in full batches, if the node accepts batches. */
export type Headers = {
  read(height: bigint): Promise<EvmBlock>
  /** Sends the requests that wait for a full batch. */
  flush(): void
  /** The number of headers that were requested but not read yet. */
  waiting(): number
}

/**
 * Passes on somewhat more requests than the node may have in flight. The others wait here, because the time that a
 * request spends in the node's queue counts against its deadline.
 */
export function createHeaders({ node, bounds }: EvmScan): Headers {
  const { requestsPerBatch, requestsAtOnce } = bounds
  const underWayMax = requestsPerBatch * requestsAtOnce * 2
  const waiting: (() => void)[] = []
  let underWay = 0
  let flushing = false
  const pump = () => {
    const least = flushing ? 1 : requestsPerBatch
    while (waiting.length >= least && underWay + requestsPerBatch <= underWayMax) {
      const batch = waiting.splice(0, requestsPerBatch)
      underWay += batch.length
      for (const start of batch) start()
    }
    if (waiting.length === 0) flushing = false
  }
  return {
    async read(height) {
      await new Promise<void>((start) => {
        waiting.push(start)
        pump()
      })
      return readHeaderTogether(node, height).finally(() => {
        underWay--
        pump()
      })
    },
    flush() {
      flushing = true
      pump()
    },
    waiting: () => waiting.length + underWay,
  }
}

async function readHeaderTogether(node: EvmNode, height: bigint): Promise<EvmBlock> {
  const block = await askTogether(node, `block ${height}`, (client) =>
    getBlock(client, { blockNumber: height }),
  )
  return toBlock(node, block, { requested: height, payments: [], spendings: [] })
}

export function toBlock(
  node: EvmNode,
  block: ViemBlock<bigint, boolean, 'latest' | 'finalized' | 'safe'>,
  { requested, ...found }: { requested: bigint | string } & Pick<EvmBlock, 'payments' | 'spendings'>,
): EvmBlock {
  const { number, hash, parentHash, timestamp, logsBloom } = block
  if (
    typeof number !== 'bigint' ||
    hash === null ||
    (typeof requested === 'bigint' && number !== requested)
  ) {
    throw refusal(node, `block ${requested}`, `the node answered with block ${number}`)
  }
  return {
    height: number,
    hash,
    parentHash,
    at: new Date(Number(timestamp) * 1000),
    bloom: logsBloom ?? '0x',
    transactions: block.transactions.length,
    ...found,
  }
}

/** The fields of a block that identify its history. */
export type BlockLink = Pick<EvmBlock, 'hash' | 'parentHash'>

/** Refuses blocks of two histories in one range: a transfer could be missed between them. */
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
