import type { Transaction } from 'kysely'
import { encodeObservation, type TransferDecision } from '../../core/evidence.ts'
import { appendInbox, rowKey } from '../inbox.ts'
import type { Tables } from '../tables.ts'
import { endProposals } from './proposals.ts'

/**
 * Stores decisions of a person, or of a policy on a person's behalf, and ends the proposals about them. A decision is
 * evidence like any other: applying it does the rest.
 * @returns the decisions that were not stored before; an id that is already stored changes nothing
 */
export async function recordDecisions(
  tx: Transaction<Tables>,
  decisions: readonly TransferDecision[],
): Promise<readonly TransferDecision[]> {
  if (decisions.length === 0) return []
  const rows = decisions.map((decision) => ({
    source: 'person' as const,
    sourceKey: decision.id,
    body: Buffer.from(encodeObservation(decision)),
    headers: {},
    receivedAt: decision.receivedAt,
  }))
  const added = await appendInbox(tx, rows)
  const kept = decisions.filter(({ id }) => added.has(rowKey({ source: 'person', sourceKey: id })))
  await endProposals(tx, kept)
  return kept
}
