import { numberToHex, type RpcTransactionReceipt } from 'viem'
import { type AssetKey, type TxId, toTxId } from '../../core/asset.ts'
import { Fault, isFault } from '../../core/errors.ts'
import { mapBounded } from '../map-bounded.ts'
import { type Pool, refusal } from '../pool.ts'
import { offerIn } from '../refusals.ts'
import type { BalanceMovement, ChainTransfer, NetworkSettings } from '../types.ts'
import { type EvmBlock, transferIn } from './headers.ts'
import { ask, coinEmitter, type EvmNode, type EvmScan } from './node.ts'
import { depositTopic, isReported, readReceipt, withdrawalTopic } from './receipts.ts'
import { type Dialect, dialects, type InnerTransfer } from './trace-dialects.ts'

/** Null if the node offers none. Determined once per connection. */
const knownDialects = new WeakMap<EvmNode, Dialect | null>()

export async function tracingNodes(pool: Pool<EvmNode>): Promise<EvmNode[]> {
  const found = await Promise.all(pool.nodes.map((node) => pool.attempt(node, () => dialectOf(node))))
  return pool.nodes.filter((_, index) => found[index] !== null && !(found[index] instanceof Fault))
}

export async function traceFaults(node: EvmNode, { name, reading }: NetworkSettings): Promise<string[]> {
  if (reading?.traces !== 'always' || (await dialectOf(node)) !== null) return []
  return [
    `networks: ${name}: traces: always requires ${methods}, and the node supports neither (${node.name})`,
  ]
}

/** Moves by contracts, in order. @throws Fault `remote_failed`, also if the node traces no blocks, or not this one */
export async function readTraces(node: EvmNode, block: EvmBlock): Promise<readonly InnerTransfer[]> {
  if (block.transactions === 0) return []
  const dialect = await dialectOf(node)
  const what = `traces of block ${block.height}`
  if (dialect === null) throw refusal(node, what, `the node supports neither ${methods}`)
  const txs = await transactionsOf(node, block)
  const inner = dialect.read(await requestTraces(node, dialect, block.height), { hash: block.hash, txs })
  if (inner === null) throw refusal(node, what, 'they belong to another block')
  return inner
}

const methods = dialects.map(({ method }) => method).join(' or ')

/** Tracing the genesis block costs nothing. A refusal still shows whether other blocks can be traced. */
async function dialectOf(node: EvmNode): Promise<Dialect | null> {
  const known = knownDialects.get(node)
  if (known !== undefined) return known
  for (const dialect of dialects) {
    if (!(await offers(node, dialect))) continue
    knownDialects.set(node, dialect)
    return dialect
  }
  knownDialects.set(node, null)
  return null
}

async function offers(node: EvmNode, dialect: Dialect): Promise<boolean> {
  try {
    await requestTraces(node, dialect, 0n)
    return true
  } catch (error) {
    if (!isFault(error, 'remote_failed')) throw error
    const offer = offerIn(error.details.problem)
    if (offer !== null) return offer
    throw error
  }
}

function requestTraces(node: EvmNode, { method, params }: Dialect, height: bigint): Promise<unknown> {
  const asked = { method, params: params(height) }
  return ask(node, `${method} of block ${height}`, (request) => request(asked as never))
}

/** Traces refer to transactions by position. */
async function transactionsOf(node: EvmNode, { height, hash }: EvmBlock): Promise<TxId[]> {
  const block = await ask(node, `block ${height}`, (request) =>
    request({ method: 'eth_getBlockByNumber', params: [numberToHex(height), false] }),
  )
  if (block?.hash !== hash) throw refusal(node, `block ${height}`, `its hash is ${block?.hash}, not ${hash}`)
  return block.transactions.map((tx) => toTxId(typeof tx === 'string' ? tx : tx.hash))
}

type TraceReading = { transfers: ChainTransfer[]; movements: BalanceMovement[] }

/** Blocks and logs do not show it. @throws Fault `remote_failed`, also if the node traces no blocks */
export async function readInside(scan: EvmScan, blocks: readonly EvmBlock[]): Promise<TraceReading> {
  const { native } = scan.watch
  if (native === null) return { transfers: [], movements: [] }
  const inside = await mapBounded(blocks, scan.bounds.requestsAtOnce, (block) =>
    readBlock(scan, block, native),
  )
  return {
    transfers: inside.flatMap(({ transfers }) => transfers),
    movements: inside.flatMap(({ movements }) => movements),
  }
}

async function readBlock(scan: EvmScan, block: EvmBlock, native: AssetKey): Promise<TraceReading> {
  const { node, watch } = scan
  const all = await readTraces(node, block)
  const ours = all.filter(({ from, to }) => watch.recipients.has(from) || watch.recipients.has(to))
  const inside: TraceReading = { transfers: [], movements: [] }
  for (const [tx, inner] of Map.groupBy(ours, (one) => one.tx)) {
    const receipt = await receiptIn(scan, block, tx)
    for (const one of inner) {
      const { from, to, value } = one
      const common = { tx, asset: native, index: `trace:${one.position}` }
      if (watch.recipients.has(to) && !isPaidOtherwise(scan, receipt, one))
        inside.transfers.push(transferIn(scan, block, { ...common, from, to, value }))
      if (watch.recipients.has(from) && !isWrapped(scan, receipt, one)) {
        const at = { network: watch.network, height: block.height, blockHash: block.hash }
        inside.movements.push({ ...common, ...at, address: from, change: -value })
      }
    }
  }
  return inside
}

/** A failed transaction moves nothing, so it has no traces. */
async function receiptIn({ node }: EvmScan, block: EvmBlock, tx: TxId): Promise<RpcTransactionReceipt> {
  const receipt = await readReceipt(node, tx, block)
  if (receipt.status === '0x1') return receipt
  throw refusal(
    node,
    `receipt of ${tx}`,
    `the transaction failed, but block ${block.height} has traces of it`,
  )
}

/** True if a log of the chain (EIP-7708), or a movement of an unwrapped coin, reports the payment. */
function isPaidOtherwise(
  { watch }: EvmScan,
  receipt: RpcTransactionReceipt,
  { tx, from, to, value }: InnerTransfer,
) {
  if (receipt.logs.some(({ address }) => address.toLowerCase() === coinEmitter)) return true
  const wrapping = { tx, contract: from, address: to, value }
  return watch.contracts.has(from) && isReported(receipt, wrapping, withdrawalTopic)
}

function isWrapped(
  { watch }: EvmScan,
  receipt: RpcTransactionReceipt,
  { tx, from, to, value }: InnerTransfer,
) {
  const wrapping = { tx, contract: to, address: from, value }
  return watch.contracts.has(to) && isReported(receipt, wrapping, depositTopic)
}
