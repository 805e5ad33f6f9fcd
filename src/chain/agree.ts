import type { NetworkName } from '../core/asset.ts'
import { Fault, isFault } from '../core/errors.ts'
import { allFailed, type NodeFault, type Pool, type PooledNode } from './pool.ts'

/** Two nodes agree if their lines are equal. Nodes can also agree on a fault. */
export type NodeFinding<Result> = {
  /** The order does not depend on the node. Without lines the node abstains. */
  lines: readonly string[]
  result: Result | Fault
}

export type Vote<Node, Result> = NodeFinding<Result> & { node: Node }

export type Ballot<Node extends PooledNode, Result> = {
  pool: Pool<Node>
  network: NetworkName
  quorum: number
  votes: readonly Vote<Node, Result>[]
  /** In order. Only as many as necessary are asked. */
  candidates: readonly Node[]
  read: (node: Node) => Promise<NodeFinding<Result>>
}

export type Outcome<Node, Result> = {
  votes: readonly Vote<Node, Result>[]
  faults: readonly NodeFault[]
  /** Empty without a quorum. */
  agreeing: readonly Vote<Node, Result>[]
  dissent: readonly string[]
}

/** Asks nodes until a quorum agrees. Dissenting nodes move to the end of the order for a while. */
export async function hold<Node extends PooledNode, Result>(
  ballot: Ballot<Node, Result>,
): Promise<Outcome<Node, Result>> {
  const { pool, quorum, read } = ballot
  const votes = [...ballot.votes]
  const waiting = [...ballot.candidates]
  const faults: NodeFault[] = []
  for (;;) {
    const decided = votes.filter(({ lines }) => lines.length > 0)
    const sides = [...Map.groupBy(decided, ({ lines }) => lines.join('\n')).values()]
    const [agreeing = []] = sides.toSorted((one, other) => other.length - one.length)
    const [vote] = agreeing
    if (vote !== undefined && agreeing.length >= quorum) {
      const others = decided.filter((one) => !agreeing.includes(one))
      for (const { node } of others) pool.distrust(node)
      return { votes, faults, agreeing, dissent: others.map((other) => difference(vote, other)) }
    }
    const next = waiting.splice(0, quorum - agreeing.length)
    if (next.length === 0) return { votes, faults, agreeing: [], dissent: [] }
    const cast = next.map((node) => pool.attempt(node, async () => ({ node, ...(await read(node)) })))
    for (const one of await Promise.all(cast)) {
      if (one instanceof Fault) faults.push(one)
      else votes.push(one)
    }
  }
}

/** `rpc_disagreement` if enough nodes answered; otherwise `remote_failed` or `settings_bad` */
export function undecided<Node extends PooledNode>(
  { network, quorum }: { network: NetworkName; quorum: number },
  { votes, faults }: Pick<Outcome<Node, unknown>, 'votes' | 'faults'>,
): Fault {
  const [first, ...others] = votes
  if (first === undefined || faults.some((fault) => isFault(fault, 'settings_bad'))) return allFailed(faults)
  if (votes.length < quorum) return tooFew({ network, quorum }, votes.length, faults)
  const differences = others.map((other) => difference(first, other)).join('; ')
  return new Fault('rpc_disagreement', { network, problem: `unlike ${first.node.name}, ${differences}` })
}

const linesShown = 3

function difference(one: Vote<PooledNode, unknown>, other: Vote<PooledNode, unknown>): string {
  const lacks = one.lines.filter((line) => !other.lines.includes(line))
  const adds = other.lines.filter((line) => !one.lines.includes(line))
  const parts = [
    ...(lacks.length > 0 ? [`lacks ${listed(lacks)}`] : []),
    ...(adds.length > 0 ? [`has ${listed(adds)}`] : []),
  ]
  return `${other.node.name} ${parts.join(' and ') || 'reports the same'}`
}

function listed(lines: readonly string[]): string {
  const more = lines.length > linesShown ? `, and ${lines.length - linesShown} more` : ''
  return `${lines.slice(0, linesShown).join(', ')}${more}`
}

export type QuorumOptions<Node extends PooledNode> = {
  network: NetworkName
  pool: Pool<Node>
  /** With 1, the first healthy node is believed. */
  quorum: number
  /** Null if it has none yet. */
  finalHeight: (node: Node) => Promise<bigint | null>
}

export async function agreedHeight<Node extends PooledNode>({
  network,
  pool,
  quorum,
  finalHeight,
}: QuorumOptions<Node>): Promise<{ finalMax: bigint; able: Node[] }> {
  const answers = await Promise.all(
    pool
      .inOrder()
      .map((node) => pool.attempt(node, async () => ({ node, height: (await finalHeight(node)) ?? -1n }))),
  )
  const answered = answers.flatMap((answer) => (answer instanceof Fault ? [] : [answer]))
  const faults = answers.filter((answer) => answer instanceof Fault)
  const heights = answered.map(({ height }) => height).toSorted((one, other) => Number(other - one))
  const finalMax = heights[quorum - 1]
  if (finalMax === undefined) {
    const failed = allFailed(faults)
    throw isFault(failed, 'settings_bad') ? failed : tooFew({ network, quorum }, answered.length, faults)
  }
  return { finalMax, able: answered.filter(({ height }) => height >= finalMax).map(({ node }) => node) }
}

function tooFew(
  { network, quorum }: { network: NetworkName; quorum: number },
  answered: number,
  faults: readonly NodeFault[],
): Fault<'remote_failed'> {
  const problem = [`only ${answered} answered`, ...faults.map(({ message }) => message)].join('; ')
  return new Fault('remote_failed', { what: `${network}, agreement of ${quorum} nodes`, problem })
}
