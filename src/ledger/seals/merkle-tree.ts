import { assert } from '../../core/errors.ts'
import { hashOf } from './encode.ts'

/** A Merkle tree over consecutive leaf hashes, as RFC 9162 builds it. */
export type MerkleTree = {
  add: (leaf: Buffer) => void
  /** The root of the leaves so far; there must be at least one. */
  root: () => Buffer
}

/** Stores one hash for each power of two in the number of leaves, so that memory hardly grows with them. */
export function createTree(): MerkleTree {
  const whole: { height: number; hash: Buffer }[] = []
  return {
    add(leaf) {
      let [height, hash] = [0, leaf]
      while (whole.at(-1)?.height === height) {
        hash = nodeOf(whole.pop()?.hash, hash)
        height++
      }
      whole.push({ height, hash })
    },
    root() {
      const root = whole.map(({ hash }) => hash).reduceRight((right, left) => nodeOf(left, right))
      return root
    },
  }
}

export function rootOf(leaves: readonly Buffer[]): Buffer {
  const tree = createTree()
  for (const leaf of leaves) tree.add(leaf)
  return tree.root()
}

/** The sibling hashes on the path from a leaf to the root, lowest first. */
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
