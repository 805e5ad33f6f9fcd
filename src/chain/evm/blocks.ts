import type { Hex, RpcBlock, RpcTransaction } from 'viem'
import { numberToHex } from 'viem/utils'
import type { Address, TxId } from '../../core/asset.ts'
import { mapBounded } from '../map-bounded.ts'
import { refusal } from '../pool.ts'
import type { HeightRange } from '../types.ts'
import {
  type EvmBlock,
  type HeaderQueue,
  type NativePayment,
  type NativeSpending,
  toBlock,
} from './headers.ts'
import { ask, type EvmNode, type EvmScan, type EvmWatch } from './node.ts'

export type Blocks = ReadonlyMap<bigint, EvmBlock>

/** Payments of the native coin write no log. */
export function readsWhole({ native, recipients }: EvmWatch): boolean {
  return native !== null && recipients.size > 0
}

/** Only scans use them: other readings watch other addresses. */
const caches = new WeakMap<EvmNode, BlockCache>()

export function openCache({ node, watch }: EvmScan): BlockCache {
  const cache = caches.get(node) ?? new BlockCache()
  caches.set(node, cache)
  cache.watch(watch.recipients)
  return cache
}

type BlockReadOptions = {
  range: HeightRange
  named: readonly bigint[]
  headers: HeaderQueue
  /** Final blocks are taken from it. */
  cache: BlockCache | null
  isFinal: boolean
}

/** Reads the blocks of the range, if the native coin is watched, and the named blocks. */
export async function readBlocks(
  scan: EvmScan,
  { range, named, headers, cache, isFinal }: BlockReadOptions,
): Promise<Blocks> {
  const whole = new Set(readsWhole(scan.watch) ? everyHeight(range) : [])
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

/** Heights must be consecutive. The parent hashes show which cached blocks are in the chain of the highest. */
async function readWholes(
  scan: EvmScan,
  heights: readonly bigint[],
  { cache, isFinal }: Pick<BlockReadOptions, 'cache' | 'isFinal'>,
): Promise<EvmBlock[]> {
  const target = isFinal ? null : cache
  const top = heights.at(-1)
  const missing = heights.filter((height) => height === top || cache?.has(height) !== true)
  const read = await mapBounded(missing, scan.bounds.requestsAtOnce, (height) =>
    readWhole(scan, height, target),
  )
  const blocks = new Map(read.map((block) => [block.height, block]))
  for (const height of heights.toReversed()) {
    const above = blocks.get(height + 1n)
    const known = above === undefined ? null : (cache?.find(height, above.parentHash) ?? null)
    if (!blocks.has(height)) blocks.set(height, known ?? (await readWhole(scan, height, target)))
    if (isFinal) cache?.drop(height)
  }
  return heights.flatMap((height) => blocks.get(height) ?? [])
}

async function readWhole(
  { node, watch }: EvmScan,
  height: bigint,
  cache: BlockCache | null,
): Promise<EvmBlock> {
  const block = await ask(node, `block ${height}`, (request) =>
    request({ method: 'eth_getBlockByNumber', params: [numberToHex(height), true] }),
  )
  const transactions = transactionsOf(node, block, height)
  const whole = toBlock(node, block, {
    requested: height,
    payments: transactions.flatMap((tx) => paymentsOf(watch, tx)),
    spendings: transactions.flatMap((tx) => spendingsOf(watch, tx)),
  })
  cache?.add(
    whole,
    transactions.flatMap(({ from, to }) => (to ? [lowerCase(from), lowerCase(to)] : [lowerCase(from)])),
  )
  return whole
}

/** @throws Fault `remote_failed` if the block lists only the hashes of its transactions */
function transactionsOf(node: EvmNode, block: RpcBlock | null, height: bigint): BlockTransaction[] {
  return (block?.transactions ?? []).map((transaction) => {
    if (typeof transaction !== 'string') return transaction
    throw refusal(node, `block ${height}`, 'its transactions are missing')
  })
}

type BlockTransaction = Pick<RpcTransaction, 'hash' | 'from' | 'to' | 'value'> & {
  /** Set in a deposit from the parent chain (OP Stack specification, "Deposits"). */
  mint?: Hex
}

/** A payment to itself moves nothing and is left out. */
export function paymentsOf(
  { recipients }: EvmWatch,
  { hash, from, to, value, mint }: BlockTransaction,
): NativePayment[] {
  const payer = lowerCase(from)
  const payee = to ? lowerCase(to) : null
  const tx = hash.toLowerCase() as TxId
  const payments: NativePayment[] = []
  if (payee !== null && payee !== payer && BigInt(value) > 0n && recipients.has(payee))
    payments.push({ tx, index: 'native', from: payer, to: payee, value: BigInt(value) })
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
  const payee = to ? lowerCase(to) : null
  return [{ tx: hash.toLowerCase() as TxId, from: payer, to: payee, value: BigInt(value) }]
}

function lowerCase(address: string): Address {
  return address.toLowerCase() as Address
}

/** Arbitrum makes about 5,000 blocks until one is final. A block takes a few kilobytes. */
const blocksMax = 8000

/**
 * Holds blocks read before they were final. One is returned only as the parent of a block that is known to be in the
 * chain.
 */
class BlockCache {
  readonly #blocks = new Map<bigint, { block: EvmBlock; parties: Uint32Array }>()
  #watched: ReadonlySet<Address> = new Set()

  /** Drops blocks that may concern a newly watched address. */
  watch(recipients: ReadonlySet<Address>): void {
    const added = [...recipients].filter((address) => !this.#watched.has(address)).map(shortOf)
    const isNarrower = this.#watched.size + added.length > recipients.size
    this.#watched = recipients
    if (isNarrower) this.#blocks.clear()
    if (added.length === 0) return
    for (const [height, { parties }] of this.#blocks)
      if (added.some((address) => parties.includes(address))) this.#blocks.delete(height)
  }

  has(height: bigint): boolean {
    return this.#blocks.has(height)
  }

  /** Null also if another block is cached at that height. */
  find(height: bigint, hash: Hex): EvmBlock | null {
    const block = this.#blocks.get(height)?.block
    return block?.hash === hash ? block : null
  }

  /** `parties`: all senders and recipients, watched or not. */
  add(block: EvmBlock, parties: readonly Address[]): void {
    this.#blocks.delete(block.height)
    this.#blocks.set(block.height, { block, parties: Uint32Array.from(parties, shortOf) })
    const [oldest] = this.#blocks.keys()
    if (this.#blocks.size > blocksMax && oldest !== undefined) this.#blocks.delete(oldest)
  }

  drop(height: bigint): void {
    this.#blocks.delete(height)
  }
}

/** The first four bytes. One address in four billion collides with another. */
function shortOf(address: Address): number {
  return Number(address.slice(0, 10))
}
