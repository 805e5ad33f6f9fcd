import type { Lie, SolanaTestNode } from './solana-node.ts'

/** A transaction that a node is to lie about, and the slot it is in. */
export type LiedAbout = { tx: string; slot: bigint }

/** What makes a node of no use until it is well again, and why it is refused. */
export type SolanaRefused = {
  name: string
  lie: (node: SolanaTestNode, reported: LiedAbout) => Lie
  refusal: RegExp
}

const late = (code: number) => () => ({ error: { code, message: 'Block not available for slot' } })

export const solanaRefused: readonly SolanaRefused[] = [
  {
    name: 'answers null for what it lists',
    lie: isNull,
    refusal: /cannot be read|does not contain its effects/,
  },
  {
    name: 'does not have the block yet (-32004)',
    lie: (node, { slot }) => blockOf(node, slot, late(-32004)),
    refusal: /block/,
  },
  {
    name: 'says that the slot was skipped (-32007)',
    lie: (node, { slot }) => blockOf(node, slot, late(-32007)),
    refusal: /block/,
  },
  {
    name: 'says that the slot is missing in its store (-32009)',
    lie: (node, { slot }) => blockOf(node, slot, late(-32009)),
    refusal: /block/,
  },
]

type Block = Record<string, unknown>

function blockOf(node: SolanaTestNode, slot: bigint, change: (block: Block) => unknown): Lie {
  return (call) => {
    if (call.method !== 'getBlock' || BigInt(String(call.params[0])) !== slot) return undefined
    const { result } = node.honestly(call) as { result: Block }
    return change(result) as ReturnType<Lie>
  }
}

const withoutMeta = (block: Block) =>
  'transactions' in block
    ? {
        result: {
          ...block,
          transactions: (block.transactions as object[]).map((one) => ({ ...one, meta: null })),
        },
      }
    : undefined

/** Neither the transaction is there, nor what it did. */
function isNull(node: SolanaTestNode, { tx, slot }: LiedAbout): Lie {
  const ofBlock = blockOf(node, slot, withoutMeta)
  return (call) =>
    call.method === 'getTransaction' && call.params[0] === tx ? { result: null } : ofBlock(call)
}

/** A list of signatures without one. */
export function withoutEntry(node: SolanaTestNode, signature: string): Lie {
  return (call) => {
    if (call.method !== 'getSignaturesForAddress') return undefined
    const { result } = node.honestly(call) as { result: { signature: string }[] }
    return { result: result.filter((entry) => entry.signature !== signature) }
  }
}

/** Every signature is listed as of a transaction that went well. */
export function hidesFailures(node: SolanaTestNode): Lie {
  return (call) => {
    if (call.method !== 'getSignaturesForAddress') return undefined
    const { result } = node.honestly(call) as { result: object[] }
    return { result: result.map((entry) => ({ ...entry, err: null })) }
  }
}

/** A transaction of a version that the node does not tell. */
export function ofUnknownVersion({ tx, slot }: LiedAbout): Lie {
  const refused = { error: { code: -32015, message: 'Transaction version (9) is not supported' } }
  return ({ method, params }) => {
    const isWhole = (params[1] as { transactionDetails?: string } | undefined)?.transactionDetails !== 'none'
    const isBlock = method === 'getBlock' && BigInt(String(params[0])) === slot && isWhole
    return isBlock || (method === 'getTransaction' && params[0] === tx) ? refused : undefined
  }
}
