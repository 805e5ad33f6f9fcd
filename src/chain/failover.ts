import { Fault, isFault } from '../core/errors.ts'

/** A node that failed rests: until then it is asked only after the others. */
export type Resting = { restUntilMs: number }

/**
 * Runs the work on the first node that can do it, in order of preference. The work stays on one node, because
 * what one node has read cannot be proved complete by another's head.
 * @throws the only node's fault, or Fault `remote_failed` with all of them; other errors at once
 */
export async function onFirstNode<Node extends Resting, Result>(
  nodes: readonly Node[],
  restMs: number,
  work: (node: Node) => Promise<Result>,
): Promise<Result> {
  const faults: Fault<'remote_failed'>[] = []
  for (const node of inOrder(nodes, performance.now())) {
    try {
      return await work(node)
    } catch (error) {
      if (!isFault(error, 'remote_failed')) throw error
      node.restUntilMs = performance.now() + restMs
      faults.push(error)
    }
  }
  throw allFailed(faults)
}

function inOrder<Node extends Resting>(nodes: readonly Node[], nowMs: number): Node[] {
  const ready = nodes.filter((node) => node.restUntilMs <= nowMs)
  return [...ready, ...nodes.filter((node) => node.restUntilMs > nowMs)]
}

function allFailed(faults: readonly Fault<'remote_failed'>[]): Fault<'remote_failed'> {
  const [only, second] = faults
  if (only !== undefined && second === undefined) return only
  return new Fault(
    'remote_failed',
    {
      what: `all ${faults.length} nodes`,
      problem: faults.map(({ details }) => `${details.what}: ${details.problem}`).join('; '),
    },
    { cause: new AggregateError(faults) },
  )
}
