import { rootOf } from './merkle-tree.ts'

/** Journal ids, each with the journal's leaf in hexadecimal. */
export type LeafById = ReadonlyMap<bigint, string>

const bytesOfId = 8
const bytesOfEntry = 40

/** Reads the leaves stored with a seal: the id and the leaf of each journal. */
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

/** Names the journals that differ from the sealed ones, in words. */
export function compareLeaves(sealed: LeafById, found: LeafById): string[] {
  const altered = [...sealed].filter(([id, leaf]) => found.has(id) && found.get(id) !== leaf)
  const gone = [...sealed].filter(([id]) => !found.has(id))
  const added = [...found].filter(([id]) => !sealed.has(id))
  const reported = [
    { ids: altered.map(([id]) => id), one: 'is altered', several: 'are altered' },
    { ids: gone.map(([id]) => id), one: 'is gone', several: 'are gone' },
    { ids: added.map(([id]) => id), one: 'was put in later', several: 'were put in later' },
  ]
  return reported
    .filter(({ ids }) => ids.length > 0)
    .map(({ ids, one, several }) =>
      ids.length === 1 ? `journal ${ids[0]} ${one}` : `journals ${listOf(ids)} ${several}`,
    )
}

const runsMax = 20

/** Lists numbers in order, with consecutive numbers as a run: `1, 4 to 9 and 12`. */
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
