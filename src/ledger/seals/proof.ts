import { type JournalRows, journalFields, leafOf, legFields, type Pairs, pairsOf } from './encode.ts'
import { inclusionPath, rootOf } from './merkle-tree.ts'
import type { Seal } from './seal.ts'

/** That a journal is among those of a seal, for whoever has nothing but the seal. docs/seals.md says how it is checked. */
export type Proof = {
  format: 'depositd inclusion proof 1'
  /** What is hashed of it, in order; of a leg, again pairs. */
  journal: readonly (readonly [name: string, value: string | Pairs])[]
  /** Its place among the journals of the seal, from 0. */
  index: number
  /** Hashes beside the way from its leaf to the root, the lowest first. */
  path: string[]
  seal: Seal
}

/** Null where the journals of the seal are not those that were sealed, or this one is not among them. */
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
