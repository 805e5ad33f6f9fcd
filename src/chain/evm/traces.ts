import type { Hex, RpcTransactionReceipt } from 'viem'
import { numberToHex } from 'viem/utils'
import { type Address, type AssetKey, type TxId, toTxId } from '../../core/asset.ts'
import { Fault, isFault } from '../../core/errors.ts'
import { mapBounded } from '../map-bounded.ts'
import { type Pool, refusal } from '../pool.ts'
import { offerIn } from '../refusals.ts'
import type { BalanceMovement, ChainTransfer, NetworkSettings } from '../types.ts'
import { type EvmBlock, transferIn } from './headers.ts'
import { ask, coinEmitter, type EvmNode, type EvmScan } from './node.ts'
import { depositTopic, isReported, readReceipt, withdrawalTopic } from './receipts.ts'

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
async function readTraces(node: EvmNode, block: EvmBlock): Promise<readonly InnerTransfer[]> {
  if (block.transactions === 0) return []
  const dialect = await dialectOf(node)
  const what = `traces of block ${block.height}`
  if (dialect === null) throw refusal(node, what, `the node supports neither ${methods}`)
  const txs = await transactionsOf(node, block)
  const inner = dialect.read(await requestTraces(node, dialect, block.height), { hash: block.hash, txs })
  if (inner === null) throw refusal(node, what, 'they belong to another block')
  return inner
}

const methods = 'debug_traceBlockByNumber or trace_block'

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
        inside.movements.push({ ...common, ...at, address: from, change: -value, recipients: [to] })
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

/**
 * Coin sent by contracts, given to new ones, or left by destroyed ones; not the payment by the transaction itself.
 * `position` is the order of execution, the same in both dialects.
 */
export type InnerTransfer = { tx: TxId; position: number; from: Address; to: Address; value: bigint }

type TracedBlock = { hash: Hex; txs: readonly TxId[] }

export type Dialect = {
  method: 'debug_traceBlockByNumber' | 'trace_block'
  params: (height: bigint) => readonly unknown[]
  /** Null if the answer does not cover all transactions. */
  read: (answer: unknown, block: TracedBlock) => InnerTransfer[] | null
}

export const dialects: readonly Dialect[] = [
  {
    method: 'debug_traceBlockByNumber',
    params: (height) => [numberToHex(height), { tracer: 'callTracer' }],
    read: (answer, block) => readCallFrames(answer as CallTrace[], block),
  },
  {
    method: 'trace_block',
    params: (height) => [numberToHex(height)],
    read: (answer, block) => readActions(answer as Action[], block),
  },
]

/** go-ethereum's built-in tracers: a tree for each transaction. */
type CallTrace = { txHash?: Hex; result?: CallFrame }
type CallFrame = { type: string; from: Hex; to?: Hex; value?: Hex; error?: string; calls?: CallFrame[] }

/** A delegated call repeats the value of the enclosing call. */
const moving = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'])

function readCallFrames(traces: readonly CallTrace[], { txs }: TracedBlock): InnerTransfer[] | null {
  if (traces.length !== txs.length) return null
  const inner: InnerTransfer[] = []
  for (const [position, tx] of txs.entries()) {
    const { result, txHash = tx } = traces[position] ?? {}
    if (result === undefined || txHash.toLowerCase() !== tx) return null
    const isPayment = result.type === 'CALL'
    const moves = [...movesIn(result)].slice(isPayment && hasValue(result) ? 1 : 0)
    inner.push(...numbered(tx, moves))
  }
  return inner
}

type CoinMove = { from: Hex; to: Hex; value: Hex }

/** A failed frame also reverts everything inside of it. */
function* movesIn({ type, from, to, value, error, calls = [] }: CallFrame): Generator<CoinMove> {
  if (error !== undefined) return
  if (moving.has(type) && to !== undefined && hasValue({ value })) yield { from, to, value: value ?? '0x0' }
  for (const call of calls) yield* movesIn(call)
}

function hasValue({ value = '0x0' }: { value?: Hex | undefined }): boolean {
  return BigInt(value) > 0n
}

/** OpenEthereum's trace module: one list per block; `traceAddress` is the position in the tree. */
type Action = {
  type: string
  action: {
    callType?: string
    from?: Hex
    to?: Hex
    value?: Hex
    address?: Hex
    refundAddress?: Hex
    balance?: Hex
  }
  result?: { address?: Hex } | null
  error?: string
  traceAddress: readonly number[]
  transactionHash?: Hex | null
  blockHash: Hex
}

function readActions(all: readonly Action[], { hash, txs }: TracedBlock): InnerTransfer[] | null {
  if (all.some(({ blockHash }) => blockHash !== hash)) return null
  const byTx = Map.groupBy(all, ({ transactionHash }) => transactionHash?.toLowerCase())
  if (txs.some((tx) => byTx.get(tx)?.[0]?.traceAddress.length !== 0)) return null
  return txs.flatMap((tx) => numbered(tx, movesOf(byTx.get(tx) ?? [])))
}

function movesOf(actions: readonly Action[]): CoinMove[] {
  const failed: (readonly number[])[] = []
  const moves: CoinMove[] = []
  for (const one of actions) {
    if (one.error !== undefined) failed.push(one.traceAddress)
    const isVoid = failed.some((above) => above.every((step, depth) => one.traceAddress[depth] === step))
    const isPayment = one.type === 'call' && one.traceAddress.length === 0
    const move = isVoid || isPayment ? null : moveOf(one)
    if (move !== null) moves.push(move)
  }
  return moves
}

function moveOf({ type, action, result }: Action): CoinMove | null {
  const { from, to, value, address, refundAddress, balance, callType } = action
  if (type === 'suicide') return toMove(address, refundAddress, balance)
  if (type === 'create') return toMove(from, result?.address, value)
  return type === 'call' && callType === 'call' ? toMove(from, to, value) : null
}

function toMove(from: Hex | undefined, to: Hex | undefined, value: Hex = '0x0'): CoinMove | null {
  return from === undefined || to === undefined || !hasValue({ value }) ? null : { from, to, value }
}

/** A move to itself changes nothing and is left out. */
function numbered(tx: TxId, moves: readonly CoinMove[]): InnerTransfer[] {
  return moves
    .filter(({ from, to }) => from.toLowerCase() !== to.toLowerCase())
    .map(({ from, to, value }, position) => ({
      tx,
      position,
      from: from.toLowerCase() as Address,
      to: to.toLowerCase() as Address,
      value: BigInt(value),
    }))
}
