import { expect, test } from 'vitest'
import {
  consistencyProof,
  createTree,
  inclusionPath,
  isConsistent,
  isIncluded,
  type ReadHashes,
  rootOf,
  rootOfRange,
} from '../../../src/ledger/merkle-tree.ts'
import { hashOf } from '../../../src/ledger/sealed-row.ts'

/** The leaves that implementations of Certificate Transparency are tested with, and the roots over the first of them. */
const published = [
  ['', '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'],
  ['00', 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'],
  ['10', 'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77'],
  ['2021', 'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7'],
  ['3031', '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4'],
  ['40414243', '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef'],
  ['5051525354555657', 'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c'],
  ['606162636465666768696a6b6c6d6e6f', '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328'],
] as const

test('the root over the first leaves is the one that was published, for each number of leaves', () => {
  const tree = createTree()
  const roots = published.map(([leaf]) => {
    tree.add(hashOf('leaf', Buffer.from(leaf, 'hex')))
    return tree.root().toString('hex')
  })
  expect(roots).toEqual(published.map(([, root]) => root))
})

const leaves = Array.from({ length: 600 }, (_none, number) => hashOf('leaf', `${number}`))

/** What the store does: leaves, and nodes over each 256 of the level below. */
const read: ReadHashes = async (height, first, count) => {
  if (height === 0) return leaves.slice(first, first + count)
  const width = 2 ** height
  return Array.from({ length: count }, (_none, place) =>
    rootOf(leaves.slice((first + place) * width, (first + place + 1) * width)),
  )
}

const headOf = (size: number) => ({ size, root: rootOf(leaves.slice(0, size)) })
const leafAt = (index: number) => leaves[index] ?? Buffer.of()
const sizes = [1, 2, 3, 7, 8, 9, 31, 32, 33, 255, 256, 257, 511, 512, 513, 600]

test('the root over the first leaves is the same from the stored nodes', async () => {
  for (const size of sizes) expect(await rootOfRange(read, { from: 0, to: size })).toEqual(headOf(size).root)
})

test('the path of a leaf leads it and no other leaf, place or tree to the root', async () => {
  for (const size of sizes)
    for (const index of new Set([0, Math.floor(size / 2), size - 1])) {
      const path = await inclusionPath(read, index, { from: 0, to: size })
      const [head, leaf] = [headOf(size), leafAt(index)]
      expect(isIncluded(leaf, { index, path }, head)).toBe(true)
      expect(isIncluded(hashOf('leaf', 'other'), { index, path }, head)).toBe(false)
      expect(isIncluded(leaf, { index: index + 1, path }, head)).toBe(false)
      expect(isIncluded(leaf, { index, path: [...path, leaf] }, head)).toBe(false)
      expect(isIncluded(leaf, { index, path }, headOf(size === 1 ? 2 : size - 1))).toBe(false)
    }
  await expect(inclusionPath(read, 600, { from: 0, to: 600 })).rejects.toThrow('a leaf stands in its tree')
})

test('a proof shows that a tree only grew, and none shows it of a tree that was changed', async () => {
  for (const newer of sizes)
    for (const older of sizes.filter((size) => size <= newer)) {
      const proof = await consistencyProof(read, older, newer)
      expect(isConsistent(headOf(older), headOf(newer), proof)).toBe(true)
      const forged = { size: older, root: hashOf('leaf', 'forged') }
      expect(isConsistent(forged, headOf(newer), proof)).toBe(false)
      expect(isConsistent(headOf(older), { ...headOf(newer), root: forged.root }, proof)).toBe(false)
      expect(isConsistent(headOf(older), headOf(newer), [...proof, forged.root])).toBe(false)
      if (proof.length > 0) expect(isConsistent(headOf(older), headOf(newer), proof.slice(1))).toBe(false)
    }
  expect(isConsistent(headOf(9), headOf(8), [])).toBe(false)
  expect(isConsistent({ size: 0, root: Buffer.of() }, headOf(8), await consistencyProof(read, 0, 8))).toBe(
    true,
  )
})

test('the root is another where two leaves are swapped, one is left out, or the last is there twice', () => {
  const root = rootOf(leaves)
  const [first, second, ...rest] = leaves
  expect(rootOf([second, first, ...rest].filter((leaf) => leaf !== undefined))).not.toEqual(root)
  expect(rootOf(rest)).not.toEqual(root)
  expect(rootOf([...leaves, ...leaves.slice(-1)])).not.toEqual(root)
})
