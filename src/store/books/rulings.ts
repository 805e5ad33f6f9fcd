import type { Transaction } from 'kysely'
import type { TransferDecision } from '../../core/evidence.ts'
import { encodeObservation } from '../../core/observation-json.ts'
import { appendInbox, rowKey } from '../inbox.ts'
import type { Tables } from '../tables.ts'
import { endProposals } from './proposals.ts'

/**
 * Keeps what a person, or a policy in a person's place, decided, and ends what was proposed about it. It is evidence like
 * all else: applying it does the rest.
 * @returns those that were not kept before; one that is known by its id changes nothing.
 */
export async function recordRulings(
  tx: Transaction<Tables>,
  rulings: readonly TransferDecision[],
): Promise<readonly TransferDecision[]> {
  if (rulings.length === 0) return []
  const rows = rulings.map((ruling) => ({
    source: 'person' as const,
    sourceKey: ruling.id,
    body: Buffer.from(encodeObservation(ruling)),
    headers: {},
    receivedAt: ruling.receivedAt,
  }))
  const added = await appendInbox(tx, rows)
  const kept = rulings.filter(({ id }) => added.has(rowKey({ source: 'person', sourceKey: id })))
  await endProposals(tx, kept)
  return kept
}
