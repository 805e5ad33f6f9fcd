/** How the migrations applied to a database compare with those of this program. */
export type SchemaState =
  | { kind: 'missing' }
  | { kind: 'behind' | 'current'; at: string }
  /** `contract` is the newest migration that removed something this program may use; null if all only added. */
  | { kind: 'newer'; at: string; contract: string | null }
  /** `at` is the newest migration that this program does not have and that no later version of it added. */
  | { kind: 'unknown'; at: string }

/** Ends the name of a migration that removes something earlier versions use; all other migrations only add. */
const contracting = '_contract'

/** @param own all migrations of this program; names sort in the order in which they are applied */
export function compareSchema(applied: readonly string[], own: readonly string[]): SchemaState {
  const found = applied.toSorted()
  const at = found.at(-1)
  if (at === undefined) return { kind: 'missing' }
  const needed = own.toSorted()
  const shared = found.slice(0, needed.length)
  const odd = shared.findLast((name, place) => name !== needed[place])
  if (odd !== undefined) return { kind: 'unknown', at: found.findLast((name) => !own.includes(name)) ?? odd }
  const newer = found.slice(needed.length)
  if (newer.length > 0)
    return { kind: 'newer', at, contract: newer.findLast((name) => name.endsWith(contracting)) ?? null }
  return { kind: found.length < needed.length ? 'behind' : 'current', at }
}
