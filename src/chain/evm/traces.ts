import { type Client, numberToHex } from 'viem'
import { type TxId, toTxId } from '../../core/asset.ts'
import { isFault } from '../../core/errors.ts'
import type { Pool } from '../pool.ts'
import { offerIn } from '../refusals.ts'
import type { NetworkSettings } from '../types.ts'
import type { EvmBlock } from './blocks.ts'
import { ask, type EvmNode, refusal } from './node.ts'
import { type Dialect, dialects, type Inner } from './trace-dialects.ts'

/** The trace dialect of each node; null for none. Determined once per connection. */
const spoken = new WeakMap<Client, Dialect | null>()

/** The nodes that offer traces. A node that does not answer is left out this time. */
export async function tracingNodes(pool: Pool<EvmNode>): Promise<EvmNode[]> {
  const found = await Promise.all(
    pool.nodes.map(async (node) => {
      try {
        return await pool.on(node, async () => ((await dialectOf(node)) === null ? [] : [node]))
      } catch (error) {
        if (isFault(error, 'remote_failed') || isFault(error, 'settings_bad')) return []
        throw error
      }
    }),
  )
  return found.flat()
}

/** The fault of a node that must trace every block but cannot. */
export async function traceFaults(node: EvmNode, { name, reading }: NetworkSettings): Promise<string[]> {
  if (reading?.traces !== 'always' || (await dialectOf(node)) !== null) return []
  return [`networks: ${name}: traces: always needs ${methods}, and the node offers neither (${node.name})`]
}

/**
 * Native coin that contracts moved inside of a block's transactions, in order.
 * @throws Fault `remote_failed`, also if the node traces no blocks, or not this one
 */
export async function readTraces(node: EvmNode, block: EvmBlock): Promise<readonly Inner[]> {
  if (block.transactions === 0) return []
  const dialect = await dialectOf(node)
  const what = `traces of block ${block.height}`
  if (dialect === null) throw refusal(node, what, `it offers neither of ${methods}`)
  const txs = await transactionsOf(node, block)
  const inner = dialect.read(await request(node, dialect, block.height), { hash: block.hash, txs })
  if (inner === null) throw refusal(node, what, 'they are not those of the block that was read')
  return inner
}

const methods = dialects.map(({ method }) => method).join(' or ')

/**
 * Probes with the genesis block, which costs nothing to trace. If it cannot be traced, the refusal still shows whether
 * others can.
 */
async function dialectOf(node: EvmNode): Promise<Dialect | null> {
  const known = spoken.get(node.client)
  if (known !== undefined) return known
  for (const dialect of dialects) {
    if (!(await offers(node, dialect))) continue
    spoken.set(node.client, dialect)
    return dialect
  }
  spoken.set(node.client, null)
  return null
}

async function offers(node: EvmNode, dialect: Dialect): Promise<boolean> {
  try {
    await request(node, dialect, 0n)
    return true
  } catch (error) {
    if (!isFault(error, 'remote_failed')) throw error
    const offer = offerIn(error.details.problem)
    if (offer !== null) return offer
    throw error
  }
}

function request(node: EvmNode, { method, params }: Dialect, height: bigint): Promise<unknown> {
  const asked = { method, params: params(height) }
  return ask(node, `${method} of block ${height}`, (client) => client.request(asked as never))
}

/** Traces refer to transactions by position; the block lists their ids. */
async function transactionsOf(node: EvmNode, { height, hash }: EvmBlock): Promise<TxId[]> {
  const block = await ask(node, `block ${height}`, (client) =>
    client.request({ method: 'eth_getBlockByNumber', params: [numberToHex(height), false] }),
  )
  if (block?.hash !== hash) throw refusal(node, `block ${height}`, `it is another than ${hash}`)
  return block.transactions.map((tx) => toTxId(typeof tx === 'string' ? tx : tx.hash))
}
