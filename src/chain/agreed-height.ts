import type { NetworkName } from '../core/asset.ts'
import { assert, Fault, isFault } from '../core/errors.ts'
import { castVote, type NodeFinding } from './agree.ts'
import { allFailed, type PassedOver, type Pool, type PooledNode } from './pool.ts'

export type QuorumParts<Node> = {
  network: NetworkName
  pool: Pool<Node>
  /** How many nodes must agree before a result counts. With 1, the first healthy node is believed. */
  quorum: number
  /** The newest final height of a node; null if it has none yet. */
  finalHeight: (node: Node) => Promise<bigint | null>
}

/** The newest height that a quorum of nodes calls final, and the nodes that do, in order. */
export async function agreedHeight<Node extends PooledNode>({
  network,
  pool,
  quorum,
  finalHeight,
}: QuorumParts<Node>): Promise<{ finalMax: bigint; able: Node[] }> {
  const asked = await Promise.all(
    pool.inOrder().map(async (node) => {
      const cast = await castVote(pool, node, async () => {
        const height = (await finalHeight(node)) ?? -1n
        return { lines: [], settle: () => height }
      })
      return cast instanceof Fault ? cast : { node, height: cast.settle() }
    }),
  )
  const known = asked.flatMap((one) => (one instanceof Fault ? [] : [one]))
  const faults = asked.flatMap((one) => (one instanceof Fault ? [one] : []))
  const finalMax = known.map(({ height }) => height).toSorted((one, other) => Number(other - one))[quorum - 1]
  if (finalMax === undefined) {
    const failed = allFailed(faults)
    if (isFault(failed, 'settings_bad')) throw failed
    const problem = `only ${known.length} answered: ${faults.map(({ message }) => message).join('; ')}`
    throw new Fault('remote_failed', { what: `${network}, ${quorum} nodes that agree`, problem })
  }
  return { finalMax, able: known.filter(({ height }) => height >= finalMax).map(({ node }) => node) }
}

/** The finding of the first node that has one, and the nodes that were tried. */
export async function firstVote<Node extends PooledNode, Found extends NodeFinding<unknown>>(
  pool: Pool<Node>,
  nodes: readonly Node[],
  read: (node: Node) => Promise<Found>,
): Promise<Found & { node: Node; tried: ReadonlySet<Node> }> {
  const tried = new Set<Node>()
  const faults: PassedOver[] = []
  for (const node of nodes) {
    tried.add(node)
    try {
      return { ...(await pool.on(node, read)), node, tried }
    } catch (error) {
      if (!isFault(error, 'remote_failed') && !isFault(error, 'settings_bad')) throw error
      faults.push(error)
    }
  }
  assert(faults.length > 0, 'as many nodes as the quorum call a height final')
  throw allFailed(faults)
}
