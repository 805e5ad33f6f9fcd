import type { Hex, Block as ViemBlock } from 'viem'
import { getBlock } from 'viem/actions'
import type { Address, TxId } from '../../core/asset.ts'
import { mapBounded } from '../map-bounded.ts'
import type { BlockMark, HeightRange } from '../types.ts'
import { type BlockCache, createBlockCache } from './block-cache.ts'
import { ask, askTogether, type EvmNode, refusal } from './node.ts'
import type { EvmScan, EvmWatch } from './watch.ts'

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

export type Blocks = ReadonlyMap<bigint, EvmBlock>

/** Reads the header at a height or tag. @throws Fault `remote_failed` */
export async function readHeader(
  node: EvmNode,
  at: bigint | 'latest' | 'finalized' | 'safe',
): Promise<EvmBlock> {
  const place = typeof at === 'bigint' ? { blockNumber: at } : { blockTag: at }
  const block = await ask(node, `block ${at}`, (client) => getBlock(client, place))
  return toBlock(node, block, { wanted: at, payments: [], spendings: [] })
}

/** True if blocks must be read with all their transactions, because payments of the native coin write no log. */
export function readsWhole({ native, recipients }: EvmWatch): boolean {
  return native !== null && recipients.size > 0
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

/** Caches by node. Only scans use them: other readings watch other addresses. */
const caches = new WeakMap<EvmNode, BlockCache<EvmBlock>>()

/** The node's cache of scanned blocks, adjusted to the addresses watched now. */
export function openCache({ node, watch }: EvmScan): BlockCache<EvmBlock> {
  const cache = caches.get(node) ?? createBlockCache<EvmBlock>()
  caches.set(node, cache)
  cache.watch(watch.recipients)
  return cache
}

type BlockReadOptions = {
  range: HeightRange | null
  named: readonly bigint[]
  headers: Headers
  /** Stores blocks that can still vanish; final blocks are taken from it. */
  cache: BlockCache<EvmBlock> | null
  isFinal: boolean
}

/** Reads the blocks of a range with their transactions, if the native coin is watched, and the named blocks. */
export async function readBlocks(
  scan: EvmScan,
  { range, named, headers, cache, isFinal }: BlockReadOptions,
): Promise<Blocks> {
  const whole = new Set(range !== null && readsWhole(scan.watch) ? everyHeight(range) : [])
  const others = [...new Set(named)].filter((height) => !whole.has(height))
  const blocks = await Promise.all([
    Promise.all(others.map((height) => headers.read(height))),
    readWholes(scan, [...whole], { cache, isFinal }),
  ])
  return new Map(blocks.flat().map((block) => [block.height, block]))
}

async function readHeaderTogether(node: EvmNode, height: bigint): Promise<EvmBlock> {
  const block = await askTogether(node, `block ${height}`, (client) =>
    getBlock(client, { blockNumber: height }),
  )
  return toBlock(node, block, { wanted: height, payments: [], spendings: [] })
}

function everyHeight({ from, to }: HeightRange): bigint[] {
  return Array.from({ length: Math.max(0, Number(to - from) + 1) }, (_, place) => from + BigInt(place))
}

/**
 * For consecutive heights. The highest block is always fetched; the parent hashes show which cached blocks are in its
 * chain.
 */
async function readWholes(
  scan: EvmScan,
  heights: readonly bigint[],
  { cache, isFinal }: Pick<BlockReadOptions, 'cache' | 'isFinal'>,
): Promise<EvmBlock[]> {
  const keep = isFinal ? null : cache
  const top = heights.at(-1)
  const missing = heights.filter((height) => height === top || cache?.has(height) !== true)
  const read = await mapBounded(missing, scan.bounds.requestsAtOnce, (height) =>
    readWhole(scan, height, keep),
  )
  const blocks = new Map(read.map((block) => [block.height, block]))
  for (const height of heights.toReversed()) {
    const above = blocks.get(height + 1n)
    const known = above === undefined ? null : (cache?.find(height, above.parentHash) ?? null)
    if (!blocks.has(height)) blocks.set(height, known ?? (await readWhole(scan, height, keep)))
    if (isFinal) cache?.drop(height)
  }
  return heights.flatMap((height) => blocks.get(height) ?? [])
}

async function readWhole(
  { node, watch }: EvmScan,
  height: bigint,
  cache: BlockCache<EvmBlock> | null,
): Promise<EvmBlock> {
  const block = await ask(node, `block ${height}`, (client) =>
    getBlock(client, { blockNumber: height, includeTransactions: true }),
  )
  const { transactions } = block
  const whole = toBlock(node, block, {
    wanted: height,
    payments: transactions.flatMap((tx) => paymentsOf(watch, tx)),
    spendings: transactions.flatMap((tx) => spendingsOf(watch, tx)),
  })
  cache?.keep(
    whole,
    transactions.flatMap(({ from, to }) =>
      to === null ? [lowerCase(from)] : [lowerCase(from), lowerCase(to)],
    ),
  )
  return whole
}

type BlockTransaction = Pick<
  ViemBlock<bigint, true>['transactions'][number],
  'hash' | 'from' | 'to' | 'value'
> & {
  /** On OP Stack chains, in a deposit from the parent chain (OP Stack specification, "Deposits"). */
  mint?: Hex
}

/** A payment from an address to itself moves nothing and is left out. */
export function paymentsOf(
  { recipients }: EvmWatch,
  { hash, from, to, value, mint }: BlockTransaction,
): NativePayment[] {
  const payer = lowerCase(from)
  const payee = to === null ? null : lowerCase(to)
  const tx = hash.toLowerCase() as TxId
  const payments: NativePayment[] = []
  if (payee !== null && payee !== payer && value > 0n && recipients.has(payee))
    payments.push({ tx, index: 'native', from: payer, to: payee, value })
  const minted = BigInt(mint ?? 0)
  if (minted > 0n && recipients.has(payer))
    payments.push({ tx, index: 'mint', from: null, to: payer, value: minted })
  return payments
}

function spendingsOf(
  { recipients }: EvmWatch,
  { hash, from, to, value }: BlockTransaction,
): NativeSpending[] {
  const payer = lowerCase(from)
  if (!recipients.has(payer)) return []
  return [{ tx: hash.toLowerCase() as TxId, from: payer, to: to === null ? null : lowerCase(to), value }]
}

function lowerCase(address: string): Address {
  return address.toLowerCase() as Address
}

function toBlock(
  node: EvmNode,
  block: ViemBlock<bigint, boolean, 'latest' | 'finalized' | 'safe'>,
  { wanted, ...found }: { wanted: bigint | string } & Pick<EvmBlock, 'payments' | 'spendings'>,
): EvmBlock {
  const { number, hash, parentHash, timestamp, logsBloom } = block
  if (typeof number !== 'bigint' || hash === null || (typeof wanted === 'bigint' && number !== wanted)) {
    throw refusal(node, `block ${wanted}`, `it answered with block ${number}`)
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
