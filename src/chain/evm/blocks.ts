import type { Hex, Block as ViemBlock } from 'viem'
import { getBlock } from 'viem/actions'
import type { Address, TxId } from '../../core/asset.ts'
import { mapBounded } from '../map-bounded.ts'
import type { HeightRange } from '../types.ts'
import { type EvmBlock, type Headers, type NativePayment, type NativeSpending, toBlock } from './headers.ts'
import { ask, type EvmNode } from './node.ts'
import type { EvmScan, EvmWatch } from './watch.ts'

export type Blocks = ReadonlyMap<bigint, EvmBlock>

/** True if blocks must be read with all their transactions, because payments of the native coin write no log. */
export function readsWhole({ native, recipients }: EvmWatch): boolean {
  return native !== null && recipients.size > 0
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
    requested: height,
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

/** The fields of a block that the cache needs; other fields are returned unchanged. */
type CacheableBlock = { height: bigint; hash: Hex; parentHash: Hex }

/**
 * Blocks that one node returned before they were final, so that they are not fetched again once they are. The hash
 * decides: a block is returned only as the parent of a block that is known to be in the chain.
 */
export type BlockCache<Block extends CacheableBlock> = {
  /** Drops blocks that may concern an address that was not watched when they were read. */
  watch(recipients: ReadonlySet<Address>): void
  has(height: bigint): boolean
  /** Null if the block at that height is not cached, or is another one. */
  find(height: bigint, hash: Hex): Block | null
  /** `parties` are all senders and recipients in the block, watched or not. */
  keep(block: Block, parties: readonly Address[]): void
  drop(height: bigint): void
}

/** Arbitrum makes about 5,000 blocks until one is final. A block takes a few kilobytes. */
const blocksMax = 8000

export function createBlockCache<Block extends CacheableBlock>(): BlockCache<Block> {
  const kept = new Map<bigint, { block: Block; parties: Uint32Array }>()
  let watched: ReadonlySet<Address> = new Set()
  return {
    watch(recipients) {
      const added = [...recipients].filter((one) => !watched.has(one)).map(shortOf)
      const isNarrower = watched.size + added.length > recipients.size
      watched = recipients
      if (isNarrower) kept.clear()
      if (added.length === 0) return
      for (const [height, { parties }] of kept)
        if (added.some((one) => parties.includes(one))) kept.delete(height)
    },
    has: (height) => kept.has(height),
    find(height, hash) {
      const block = kept.get(height)?.block
      return block?.hash === hash ? block : null
    },
    keep(block, parties) {
      kept.delete(block.height)
      kept.set(block.height, { block, parties: Uint32Array.from(parties, shortOf) })
      const [oldest] = kept.keys()
      if (kept.size > blocksMax && oldest !== undefined) kept.delete(oldest)
    },
    drop: (height) => void kept.delete(height),
  }
}

/** The first four bytes. One address in four billion collides with another. */
function shortOf(address: Address): number {
  return Number(address.slice(0, 10))
}
