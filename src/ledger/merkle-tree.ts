import { assert } from '../core/errors.ts'
import { hashOf } from './sealed-row.ts'

/** Over consecutive leaf hashes, as in RFC 6962. Keeps one hash for each power of two in the number of leaves. */
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

export type Tree = ReturnType<typeof createTree>

export function rootOf(leaves: readonly Buffer[]): Buffer {
  const tree = createTree()
  for (const leaf of leaves) tree.add(leaf)
  return tree.root()
}

/** Stored are the leaves, and the nodes over each 256 nodes of the stored level below. */
export const heightOfTile = 8

/** The hashes of `count` complete subtrees of a height that is a multiple of `heightOfTile`, from number `first` on. */
export type ReadHashes = (height: number, first: number, count: number) => Promise<readonly Buffer[]>

type LeafRange = { from: number; to: number }

/** Of the leaves in a range that starts where a subtree of its size may start. */
export async function rootOfRange(read: ReadHashes, { from, to }: LeafRange): Promise<Buffer> {
  const size = to - from
  const split = from + largestPowerBelow(size)
  const height = Math.log2(size)
  if (!Number.isInteger(height))
    return nodeOf(await rootOfRange(read, { from, to: split }), await rootOfRange(read, { from: split, to }))
  const stored = height - (height % heightOfTile)
  return rootOf(await read(stored, from / 2 ** stored, 2 ** (height - stored)))
}

/** From the sibling of the leaf to the child of the root: RFC 6962, 2.1.1. */
export async function inclusionPath(read: ReadHashes, index: number, range: LeafRange): Promise<Buffer[]> {
  const { from, to } = range
  assert(index >= from && index < to, 'a leaf stands in its tree')
  if (to - from === 1) return []
  const split = from + largestPowerBelow(to - from)
  const [left, right] = [
    { from, to: split },
    { from: split, to },
  ]
  return index < split
    ? [...(await inclusionPath(read, index, left)), await rootOfRange(read, right)]
    : [...(await inclusionPath(read, index, right)), await rootOfRange(read, left)]
}

/** Shows that the tree over the first `older` leaves became the tree over all: RFC 6962, 2.1.2. */
export async function consistencyProof(read: ReadHashes, older: number, newer: number): Promise<Buffer[]> {
  return older === 0 ? [] : subproof(read, older, { from: 0, to: newer, isOfOlder: true })
}

async function subproof(
  read: ReadHashes,
  older: number,
  { from, to, isOfOlder }: LeafRange & { isOfOlder: boolean },
): Promise<Buffer[]> {
  if (older === to) return isOfOlder ? [] : [await rootOfRange(read, { from, to })]
  const split = from + largestPowerBelow(to - from)
  return older <= split
    ? [
        ...(await subproof(read, older, { from, to: split, isOfOlder })),
        await rootOfRange(read, { from: split, to }),
      ]
    : [
        ...(await subproof(read, older, { from: split, to, isOfOlder: false })),
        await rootOfRange(read, { from, to: split }),
      ]
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

/** A tree: how many leaves it has, and its root. */
export type TreeHead = { size: number; root: Buffer }

/** A node in its level of the tree, and the last node of that level. */
type Place = { place: number; last: number }

/** A level up, and on as long as the node stands on the side that is given. */
function upWhile(at: Place, isOnSide: (place: number) => boolean): Place {
  let { place, last } = at
  while (isOnSide(place)) [place, last] = [Math.floor(place / 2), Math.floor(last / 2)]
  return { place, last }
}

const isRight = (place: number) => place % 2 === 1
const isLeft = (place: number) => place % 2 === 0 && place > 0

/** For each hash of a path from a node up whether it stands on the left; null if the path does not end at the root. */
function sidesOf(path: readonly Buffer[], node: Place): boolean[] | null {
  let at = node
  const sides: boolean[] = []
  while (sides.length < path.length) {
    if (at.last === 0) return null
    const isOnLeft = isRight(at.place) || at.place === at.last
    if (isOnLeft) at = upWhile(at, isLeft)
    at = { place: Math.floor(at.place / 2), last: Math.floor(at.last / 2) }
    sides.push(isOnLeft)
  }
  return at.last === 0 ? sides : null
}

/** As RFC 9162 checks it: 2.1.3.2. */
export function isIncluded(
  leaf: Buffer,
  { index, path }: { index: number; path: readonly Buffer[] },
  { size, root }: TreeHead,
): boolean {
  const sides = index < size ? sidesOf(path, { place: index, last: size - 1 }) : null
  if (sides === null) return false
  return path
    .reduce((hash, beside, step) => (sides[step] ? nodeOf(beside, hash) : nodeOf(hash, beside)), leaf)
    .equals(root)
}

/** Whether the newer tree only added leaves to the older one. As RFC 9162 checks it: 2.1.4.2. */
export function isConsistent(older: TreeHead, newer: TreeHead, proof: readonly Buffer[]): boolean {
  if (older.size === 0) return proof.length === 0
  if (older.size === newer.size) return proof.length === 0 && older.root.equals(newer.root)
  return older.size < newer.size && isGrown(older, newer, proof)
}

function isGrown(older: TreeHead, newer: TreeHead, proof: readonly Buffer[]): boolean {
  const [first, ...path] = Number.isInteger(Math.log2(older.size)) ? [older.root, ...proof] : proof
  const sides = sidesOf(path, upWhile({ place: older.size - 1, last: newer.size - 1 }, isRight))
  if (first === undefined || sides === null) return false
  const after = path.reduce(
    (hash, beside, step) => (sides[step] ? nodeOf(beside, hash) : nodeOf(hash, beside)),
    first,
  )
  const before = path.reduce((hash, beside, step) => (sides[step] ? nodeOf(beside, hash) : hash), first)
  return before.equals(older.root) && after.equals(newer.root)
}
