import { expect, test } from 'vitest'
import {
  compareLeaves,
  inclusionPath,
  isOfRoot,
  listOf,
  makeProof,
  readLeaves,
  rootOf,
} from '../../../src/ledger/merkle-tree.ts'
import {
  anchorLine,
  type JournalRows,
  journalFields,
  leafOf,
  legFields,
  noHash,
  readAnchor,
  withHash,
} from '../../../src/ledger/seal.ts'

const row = <Name extends string>(names: readonly Name[], values: Partial<Record<Name, string>>) =>
  Object.fromEntries(names.map((name) => [name, values[name] ?? null])) as Record<Name, string | null>
const rows = ['4', '5', '7'].map(
  (id): JournalRows => ({
    journal: row(journalFields, { id, kind: 'deposit' }),
    legs: [row(legFields, { leg: '1', amount: id })],
  }),
)
const leaves = rows.map(leafOf)
const seal = withHash({
  number: '1',
  after: '3',
  last: '7',
  journals: '3',
  root: rootOf(leaves).toString('hex'),
  previous: noHash,
  sealedAt: '2026-01-01T10:00:00.000000Z',
})

test('a proof names the fields of the journal, its place and the hashes beside it', () => {
  const proof = makeProof(seal, rows, '5')
  expect(proof).toEqual({
    format: 'depositd inclusion proof 1',
    journal: [
      ['id', '5'],
      ['kind', 'deposit'],
      [
        'leg',
        [
          ['leg', '1'],
          ['amount', '5'],
        ],
      ],
    ],
    index: 1,
    path: inclusionPath(leaves, 1).map((hash) => hash.toString('hex')),
    seal,
  })
  expect(makeProof(seal, rows, '6'), 'of another journal').toBeNull()
  expect(makeProof(seal, rows.slice(0, 2), '5'), 'among other journals').toBeNull()
  for (const index of [-1, 3]) expect(() => inclusionPath(leaves, index)).toThrow('a leaf stands in its tree')
})

test('stored leaves are those of the root', () => {
  const entries = leaves.map((leaf, place) => {
    const id = Buffer.alloc(8)
    id.writeBigInt64BE(BigInt(rows[place]?.journal.id ?? 0))
    return Buffer.concat([id, leaf])
  })
  const stored = readLeaves(Buffer.concat(entries))
  expect([...stored]).toEqual(leaves.map((leaf, place) => [[4n, 5n, 7n][place], leaf.toString('hex')]))
  expect(isOfRoot(stored, seal.root)).toBe(true)
  expect(isOfRoot(stored, noHash)).toBe(false)
  expect(isOfRoot(new Map(), seal.root)).toBe(false)
})

test('journals that are altered, missing or added are listed', () => {
  const sealed = new Map([1n, 2n, 3n, 4n, 6n].map((id) => [id, 'a']))
  expect(compareLeaves(sealed, sealed)).toEqual([])
  const found = new Map([
    [1n, 'b'],
    [4n, 'a'],
    [6n, 'b'],
    [9n, 'a'],
  ] as const)
  expect(compareLeaves(sealed, found)).toEqual([
    'journals 1 and 6 are altered',
    'journals 2 to 3 are missing',
    'journal 9 was added later',
  ])
})

test.each([
  [[5], '5'],
  [[1, 4, 5, 6, 9], '1, 4 to 6 and 9'],
  [
    Array.from({ length: 20 }, (_none, place) => 2 * place),
    '0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36 and 38',
  ],
  [
    [...Array.from({ length: 20 }, (_none, place) => 2 * place), 50, 51, 53],
    '0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38 and 3 more',
  ],
])('the numbers %j are listed', (ids, text) => {
  expect(listOf(ids.map(BigInt))).toBe(text)
})

test('a line of an anchor is read again, and refused if anything in it is not as it was written', () => {
  const line = anchorLine(seal)
  expect(readAnchor(line)).toEqual(seal)
  expect(readAnchor(line.replace('"last":"7"', '"last":"8"'))).toEqual({
    fault: 'its hash does not match its fields',
  })
  for (const other of ['{', '{}', line.replace('"7"', '"07"'), line.replace(seal.root, `${seal.root}0`)])
    expect(readAnchor(other)).toEqual({ fault: 'it is not a seal as "ledger seals export" writes it' })
})
