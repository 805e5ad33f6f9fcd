import { expect, test } from 'vitest'
import { createTree, inclusionPath, rootOf } from '../../../src/ledger/merkle-tree.ts'
import { hashOf } from '../../../src/ledger/seal.ts'

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

/** As RFC 9162 checks it (2.1.3.2), which is another way than the one in which a path is made. */
function rootOfPath(
  leaf: Buffer,
  place: { index: number; count: number },
  path: readonly Buffer[],
): Buffer | null {
  let [index, last] = [place.index, place.count - 1]
  let hash = leaf
  for (const beside of path) {
    if (last === 0) return null
    if (index % 2 === 1 || index === last) {
      hash = hashOf('node', beside, hash)
      while (index % 2 === 0 && index > 0) [index, last] = [index >> 1, last >> 1]
    } else hash = hashOf('node', hash, beside)
    ;[index, last] = [index >> 1, last >> 1]
  }
  return last === 0 ? hash : null
}

const leaves = Array.from({ length: 33 }, (_none, number) => hashOf('leaf', `${number}`))

test('the path of every leaf leads to the root, for each number of leaves', () => {
  for (let count = 1; count <= leaves.length; count++) {
    const some = leaves.slice(0, count)
    const root = rootOf(some)
    for (const [index, leaf] of some.entries())
      expect(rootOfPath(leaf, { index, count }, inclusionPath(some, index))).toEqual(root)
  }
})

test('the path of one leaf leads no other leaf and no other place to the root', () => {
  const [count, root] = [leaves.length, rootOf(leaves)]
  const path = inclusionPath(leaves, 20)
  const found = leaves.flatMap((leaf, index) =>
    [
      rootOfPath(leaf, { index: 20, count }, path),
      rootOfPath(leaves[20] ?? leaf, { index, count }, path),
    ].map((made) => made?.equals(root) === true && index),
  )
  expect(found.filter((index) => index !== false)).toEqual([20, 20])
})

test('the root is another where two leaves are swapped, one is left out, or the last is there twice', () => {
  const root = rootOf(leaves)
  const [first, second, ...rest] = leaves
  expect(rootOf([second, first, ...rest].filter((leaf) => leaf !== undefined))).not.toEqual(root)
  expect(rootOf(rest)).not.toEqual(root)
  expect(rootOf([...leaves, ...leaves.slice(-1)])).not.toEqual(root)
})
