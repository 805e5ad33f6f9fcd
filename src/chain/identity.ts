import { Fault, isFault } from '../core/errors.ts'

/**
 * Checks the identity of every node. A node that does not answer is skipped as long as another does: it is checked
 * again before its first read.
 * @throws Fault `settings_bad` with all problems found; `remote_failed` if no node answers
 */
export async function requireIdentity<Node>(
  nodes: readonly Node[],
  faultsOf: (node: Node) => Promise<readonly string[]>,
): Promise<void> {
  const outcomes = await Promise.allSettled(nodes.map(faultsOf))
  const faults = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []))
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
  const failures = outcomes.flatMap((outcome): unknown[] =>
    outcome.status === 'rejected' ? [outcome.reason] : [],
  )
  const bug = failures.find((failure) => !isFault(failure, 'remote_failed'))
  if (bug !== undefined) throw bug
  if (failures.length === nodes.length) throw failures[0]
}
