import { assert } from '../core/errors.ts'
import {
  hashOf,
  type JournalRows,
  journalFields,
  leafOf,
  legFields,
  type Pairs,
  pairsOf,
  type Seal,
} from './seal.ts'

/**
 * Over consecutive leaf hashes, as in RFC 9162. Stores one hash for each power of two in the number of leaves, so that
 * memory hardly grows.
 */
export function createTree() {
  const whole: { height: number; hash: Buffer }[] = []
  return {
    add(leaf: Buffer): void {
      let [height, hash] = [0, leaf]
      while (whole.at(-1)?.height === height) {
        hash = nodeOf(whole.pop()?.hash, hash)
        height++
      }
      whole.push({ height, hash })
    },
    /** There must be at least one leaf. */
    root: (): Buffer => whole.map(({ hash }) => hash).reduceRight((right, left) => nodeOf(left, right)),
  }
}

export function rootOf(leaves: readonly Buffer[]): Buffer {
  const tree = createTree()
  for (const leaf of leaves) tree.add(leaf)
  return tree.root()
}

/** Lowest first. */
export function inclusionPath(leaves: readonly Buffer[], index: number): Buffer[] {
  assert(index >= 0 && index < leaves.length, 'a leaf stands in its tree')
  if (leaves.length === 1) return []
  const split = largestPowerBelow(leaves.length)
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)]
  return index < split
    ? [...inclusionPath(left, index), rootOf(right)]
    : [...inclusionPath(right, index - split), rootOf(left)]
}

function largestPowerBelow(count: number): number {
  let power = 1
  while (power * 2 < count) power *= 2
  return power
}

function nodeOf(left: Buffer | undefined, right: Buffer): Buffer {
  assert(left !== undefined, 'a node has two sides')
  return hashOf('node', left, right)
}

/** Checkable with nothing but the seal; docs/seals.md describes how. */
export type Proof = {
  format: 'depositd inclusion proof 1'
  /** The hashed fields, in order; a leg is a list of pairs. */
  journal: readonly (readonly [name: string, value: string | Pairs])[]
  /** From 0, among the journals of the seal. */
  index: number
  /** Siblings from the leaf to the root, lowest first. */
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

/** In hexadecimal. */
export type LeafById = ReadonlyMap<bigint, string>

const bytesOfId = 8
const bytesOfEntry = 40

export function readLeaves(stored: Buffer): LeafById {
  const entries = Array.from({ length: Math.floor(stored.length / bytesOfEntry) }, (_none, place) =>
    stored.subarray(place * bytesOfEntry, (place + 1) * bytesOfEntry),
  )
  return new Map(
    entries.map((entry) => [entry.readBigInt64BE(), entry.subarray(bytesOfId).toString('hex')] as const),
  )
}

export function isOfRoot(leaves: LeafById, root: string): boolean {
  if (leaves.size === 0) return false
  return rootOf([...leaves.values()].map((leaf) => Buffer.from(leaf, 'hex'))).toString('hex') === root
}

export function compareLeaves(sealed: LeafById, found: LeafById): string[] {
  const altered = [...sealed].filter(([id, leaf]) => found.has(id) && found.get(id) !== leaf)
  const gone = [...sealed].filter(([id]) => !found.has(id))
  const added = [...found].filter(([id]) => !sealed.has(id))
  const reported = [
    { of: altered, one: 'is altered', several: 'are altered' },
    { of: gone, one: 'is missing', several: 'are missing' },
    { of: added, one: 'was added later', several: 'were added later' },
  ]
  return reported.flatMap(({ of, one, several }) => {
    const ids = of.map(([id]) => id)
    if (ids.length === 0) return []
    return [ids.length === 1 ? `journal ${ids[0]} ${one}` : `journals ${listOf(ids)} ${several}`]
  })
}

const runsMax = 20

/** Consecutive numbers as a run: `1, 4 to 9 and 12`. */
export function listOf(ids: readonly bigint[]): string {
  const runs: [first: bigint, last: bigint][] = []
  for (const id of ids) {
    const run = runs.at(-1)
    if (run !== undefined && run[1] + 1n === id) run[1] = id
    else runs.push([id, id])
  }
  const words = runs
    .slice(0, runsMax)
    .map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`))
  const left = runs.slice(runsMax).reduce((sum, [first, last]) => sum + last - first + 1n, 0n)
  const all = left > 0n ? [...words, `${left} more`] : words
  return all.length === 1 ? `${all[0]}` : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}
