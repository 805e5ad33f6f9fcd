import { type Hex, numberToHex } from 'viem'
import type { Address, TxId } from '../../core/asset.ts'

/**
 * The native coin that moved inside of a transaction: what contracts sent, gave to those they made, or left behind. What
 * the transaction itself pays is not among it. `place` counts what moved in that transaction, in the order it happened,
 * so that it is the same whichever way a node tells it.
 */
export type Inner = { tx: TxId; place: number; from: Address; to: Address; value: bigint }

/** The block whose traces are read. */
type TracedBlock = { hash: Hex; txs: readonly TxId[] }

/** One of the two ways in which nodes tell what happened in a block. */
export type Dialect = {
  method: 'debug_traceBlockByNumber' | 'trace_block'
  params: (height: bigint) => readonly unknown[]
  /** Null where the answer is not about all of that block's transactions. */
  read: (answer: unknown, block: TracedBlock) => Inner[] | null
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

/** go-ethereum, documentation of its built-in tracers: a tree for each transaction. */
type CallTrace = { txHash?: Hex; result?: CallFrame }
type CallFrame = { type: string; from: Hex; to?: Hex; value?: Hex; error?: string; calls?: CallFrame[] }

/** A delegated call names the value of the call around it, and moves nothing. */
const moving = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'])

function readCallFrames(traces: readonly CallTrace[], { txs }: TracedBlock): Inner[] | null {
  if (traces.length !== txs.length) return null
  const inner: Inner[] = []
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

/** A frame comes before those inside of it; what failed has undone all that is inside of it too. */
function* movesIn({ type, from, to, value, error, calls = [] }: CallFrame): Generator<CoinMove> {
  if (error !== undefined) return
  if (moving.has(type) && to !== undefined && hasValue({ value })) yield { from, to, value: value ?? '0x0' }
  for (const call of calls) yield* movesIn(call)
}

function hasValue({ value = '0x0' }: { value?: Hex | undefined }): boolean {
  return BigInt(value) > 0n
}

/** OpenEthereum, documentation of its trace module: one list for the block; `traceAddress` is the place in the tree. */
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

function readActions(all: readonly Action[], { hash, txs }: TracedBlock): Inner[] | null {
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

/** What goes from an address to itself moves nothing. */
function numbered(tx: TxId, moves: readonly CoinMove[]): Inner[] {
  return moves
    .filter(({ from, to }) => from.toLowerCase() !== to.toLowerCase())
    .map(({ from, to, value }, place) => ({
      tx,
      place,
      from: from.toLowerCase() as Address,
      to: to.toLowerCase() as Address,
      value: BigInt(value),
    }))
}
