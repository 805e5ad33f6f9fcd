import { type JournalRows, journalFields, leafOf, legFields, type Pairs, pairsOf } from './encode.ts'
import { inclusionPath, rootOf } from './merkle-tree.ts'
import type { Seal } from './seal.ts'

/** Proves that a journal is part of a seal to a holder of nothing but the seal. docs/seals.md describes the check. */
export type Proof = {
  format: 'depositd inclusion proof 1'
  /** The hashed fields of the journal, in order; a leg is again a list of pairs. */
  journal: readonly (readonly [name: string, value: string | Pairs])[]
  /** The journal's index among the journals of the seal, from 0. */
  index: number
  /** The sibling hashes on the path from its leaf to the root, lowest first. */
  path: string[]
  seal: Seal
}

/** Null if the journals are not those that were sealed, or this one is not among them. */
export function makeProof(seal: Seal, journals: readonly JournalRows[], id: string): Proof | null {
  const index = journals.findIndex(({ journal }) => journal.id === id)
  const rows = journals[index]
  const leaves = journals.map(leafOf)
  if (rows === undefined || rootOf(leaves).toString('hex') !== seal.root) return null
  return {
    format: 'depositd inclusion proof 1',
    journal: [
      ...pairsOf(journalFields, rows.journal),
      ...rows.legs.map((leg) => ['leg', pairsOf(legFields, leg)] as const),
    ],
    index,
    path: inclusionPath(leaves, index).map((hash) => hash.toString('hex')),
    seal,
  }
}
