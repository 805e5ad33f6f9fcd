import type { Kysely } from 'kysely'
import type { Ruling } from '../core/evidence.ts'
import { encodeObservation } from '../core/observation-json.ts'
import { appendInbox, rowKey } from './inbox.ts'
import type { Tables } from './tables.ts'

/**
 * Keeps what a person, or a policy in a person's place, decided. It is evidence like all else: applying it does the rest.
 * @returns the ids of the rulings that were not kept before; one that is known by its id already changes nothing.
 */
export async function recordRulings(db: Kysely<Tables>, rulings: readonly Ruling[]): Promise<string[]> {
  if (rulings.length === 0) return []
  const rows = rulings.map((ruling) => ({
    source: 'person' as const,
    sourceKey: ruling.id,
    body: Buffer.from(encodeObservation(ruling)),
    headers: {},
    receivedAt: ruling.receivedAt,
  }))
  const added = await appendInbox(db, rows)
  return rulings.map(({ id }) => id).filter((id) => added.has(rowKey({ source: 'person', sourceKey: id })))
}
