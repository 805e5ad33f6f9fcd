import type { NetworkName } from '../core/asset.ts'
import { Fault, isFault } from '../core/errors.ts'
import { allFailed, type PassedOver, type Pool, type PooledNode } from './pool.ts'

/** What one node found. Two found the same where their lines are the same. */
export type NodeFinding<Result> = {
  /** One for each thing found, in an order that does not depend on the node. */
  lines: readonly string[]
  /** The result, or the fault that nodes can agree on as well. */
  settle: () => Result
}

export type Vote<Node, Result> = NodeFinding<Result> & { node: Node }

/** What as many nodes as were wanted found, and how the others differ from it, each in one line. */
export type QuorumAgreement<Node, Result> = {
  vote: Vote<Node, Result>
  /** All that found the same, that one among them. */
  agreeing: readonly Vote<Node, Result>[]
  dissent: readonly string[]
}

type Ballot<Node, Result> = {
  pool: Pool<Node>
  network: NetworkName
  /** How many nodes must have found the same. */
  quorum: number
  /** Whoever answered before. */
  votes: readonly Vote<Node, Result>[]
  /** Who may be asked further, in order; no more of them are than are needed. */
  candidates: readonly Node[]
  read: (node: Node) => Promise<NodeFinding<Result>>
}

/**
 * Asks nodes until as many as are wanted agree. Who differs from them is asked only after the others for a while.
 * @throws Fault `rpc_disagreement` where enough answered and did not agree; else `remote_failed` or `settings_bad`
 */
export async function agree<Node extends PooledNode, Result>(
  ballot: Ballot<Node, Result>,
): Promise<QuorumAgreement<Node, Result>> {
  const { pool, quorum, read } = ballot
  const votes = [...ballot.votes]
  const waiting = [...ballot.candidates]
  const faults: PassedOver[] = []
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

/** The vote of one node, or why it has none. */
export async function castVote<Node, Result>(
  pool: Pool<Node>,
  node: Node,
  read: (node: Node) => Promise<NodeFinding<Result>>,
): Promise<Vote<Node, Result> | PassedOver> {
  try {
    return { node, ...(await pool.on(node, read)) }
  } catch (error) {
    if (isFault(error, 'remote_failed') || isFault(error, 'settings_bad')) return error
    throw error
  }
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
  faults: readonly PassedOver[],
): Fault {
  const [first, ...others] = votes
  if (first === undefined || faults.some((fault) => isFault(fault, 'settings_bad'))) return allFailed(faults)
  if (votes.length < quorum) {
    const problem = [`only ${votes.length} answered`, ...faults.map(({ message }) => message)].join('; ')
    return new Fault('remote_failed', { what: `${network}, ${quorum} nodes that agree`, problem })
  }
  const differences = others.map((other) => `${other.node.name} ${difference(first, other)}`)
  return new Fault('rpc_disagreement', {
    network,
    problem: `unlike ${first.node.name}, ${differences.join('; ')}`,
  })
}

const linesShown = 3

/** How the second differs from the first, in words that fit in a line. */
function difference(one: NodeFinding<unknown>, other: NodeFinding<unknown>): string {
  const lacks = one.lines.filter((line) => !other.lines.includes(line))
  const adds = other.lines.filter((line) => !one.lines.includes(line))
  const said = [
    lacks.length > 0 ? `lacks ${listed(lacks)}` : '',
    adds.length > 0 ? `has ${listed(adds)}` : '',
  ]
  return said.filter((part) => part !== '').join(' and ') || 'says the same'
}

function listed(lines: readonly string[]): string {
  const more = lines.length > linesShown ? `, and ${lines.length - linesShown} more` : ''
  return `${lines.slice(0, linesShown).join(', ')}${more}`
}
