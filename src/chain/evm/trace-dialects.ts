import { type Hex, numberToHex } from 'viem'
import type { Address, TxId } from '../../core/asset.ts'

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
