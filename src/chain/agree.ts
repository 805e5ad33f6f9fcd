import type { NetworkName } from '../core/asset.ts'
import { Fault, isFault } from '../core/errors.ts'
import { allFailed, type NodeFault, type Pool, type PooledNode } from './pool.ts'

/** Two nodes agree if their lines are equal. */
export type NodeFinding<Result> = {
  /** The order does not depend on the node. */
  lines: readonly string[]
  /** The result, or the thrown fault, on which nodes can agree as well. */
  settle: () => Result
}

export type Vote<Node, Result> = NodeFinding<Result> & { node: Node }

export type QuorumAgreement<Node, Result> = {
  vote: Vote<Node, Result>
  /** Includes `vote`. */
  agreeing: readonly Vote<Node, Result>[]
  dissent: readonly string[]
}

type Ballot<Node extends PooledNode, Result> = {
  pool: Pool<Node>
  network: NetworkName
  quorum: number
  votes: readonly Vote<Node, Result>[]
  /** In order. Only as many as necessary are asked. */
  candidates: readonly Node[]
  read: (node: Node) => Promise<NodeFinding<Result>>
}

/**
 * Asks nodes until a quorum agrees. Dissenting nodes move to the end of the order for a while.
 * @throws Fault `rpc_disagreement` if enough nodes answered but did not agree; otherwise `remote_failed` or
 * `settings_bad`
 */
export async function agree<Node extends PooledNode, Result>(
  ballot: Ballot<Node, Result>,
): Promise<QuorumAgreement<Node, Result>> {
  const { pool, quorum, read } = ballot
  const votes = [...ballot.votes]
  const waiting = [...ballot.candidates]
  const faults: NodeFault[] = []
  for (;;) {
    const sides = Map.groupBy(votes, ({ lines }) => lines.join('\n'))
      .values()
      .toArray()
    const [largest = []] = sides.toSorted((one, other) => other.length - one.length)
    const [vote] = largest
    if (vote !== undefined && largest.length >= quorum) return outvote(pool, vote, votes)
    const next = waiting.splice(0, quorum - largest.length)
    if (next.length === 0) throw undecided(ballot, votes, faults)
    const cast = await Promise.all(next.map((node) => castVote(pool, node, read)))
    for (const one of cast) {
      if (one instanceof Fault) faults.push(one)
      else votes.push(one)
    }
  }
}

export async function castVote<Node extends PooledNode, Result>(
  pool: Pool<Node>,
  node: Node,
  read: (node: Node) => Promise<NodeFinding<Result>>,
): Promise<Vote<Node, Result> | NodeFault> {
  return pool.attempt(node, async (voter) => ({ node: voter, ...(await read(voter)) }))
}

function outvote<Node extends PooledNode, Result>(
  pool: Pool<Node>,
  vote: Vote<Node, Result>,
  votes: readonly Vote<Node, Result>[],
): QuorumAgreement<Node, Result> {
  const isSame = ({ lines }: Vote<Node, Result>) => lines.join('\n') === vote.lines.join('\n')
  const others = votes.filter((one) => !isSame(one))
  for (const { node } of others) pool.distrust(node)
  const dissent = others.map((other) => `${other.node.name} ${difference(vote, other)}`)
  return { vote, agreeing: votes.filter(isSame), dissent }
}

function undecided<Node extends PooledNode, Result>(
  { network, quorum }: Ballot<Node, Result>,
  votes: readonly Vote<Node, Result>[],
  faults: readonly NodeFault[],
): Fault {
  const [first, ...others] = votes
  if (first === undefined || faults.some((fault) => isFault(fault, 'settings_bad'))) return allFailed(faults)
  if (votes.length < quorum) return tooFew({ network, quorum }, votes.length, faults)
  const differences = others.map((other) => `${other.node.name} ${difference(first, other)}`)
  return new Fault('rpc_disagreement', {
    network,
    problem: `unlike ${first.node.name}, ${differences.join('; ')}`,
  })
}

const linesShown = 3

function difference(one: NodeFinding<unknown>, other: NodeFinding<unknown>): string {
  const lacks = one.lines.filter((line) => !other.lines.includes(line))
  const adds = other.lines.filter((line) => !one.lines.includes(line))
  const parts = [
    ...(lacks.length > 0 ? [`lacks ${listed(lacks)}`] : []),
    ...(adds.length > 0 ? [`has ${listed(adds)}`] : []),
  ]
  return parts.join(' and ') || 'reports the same'
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
  const faults = answers.flatMap((answer) => (answer instanceof Fault ? [answer] : []))
  const heights = answered.map(({ height }) => height).toSorted((one, other) => Number(other - one))
  const finalMax = heights[quorum - 1]
  if (finalMax === undefined) {
    const failed = allFailed(faults)
    if (isFault(failed, 'settings_bad')) throw failed
    throw tooFew({ network, quorum }, answered.length, faults)
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
