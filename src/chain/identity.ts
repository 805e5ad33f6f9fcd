import { Fault, isFault } from '../core/errors.ts'

/**
 * Asks every node what it is. A node that does not answer is passed over while another does: it is asked again
 * before it is first read.
 * @throws Fault `settings_bad` with everything that is off; `remote_failed` where no node answers
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
