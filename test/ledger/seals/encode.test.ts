import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  encodePairs,
  hashSeal,
  type JournalRows,
  journalFields,
  journalPairs,
  type LedgerTextRow,
  leafOf,
  legFields,
  type Pairs,
  type Seal,
  withHash,
} from '../../../src/ledger/seal.ts'

const time = '2026-01-01T10:00:00.000000Z'
const copies = { event_at: time, recorded_at: time, period: '2026-01-01' }
const example: JournalRows = {
  journal: {
    id: '7',
    posting_key: 'deposit/base/0xp/1#1',
    kind: 'deposit',
    deposit_id: '3',
    transfer: 'base/0xp/1',
    reverses: null,
    ...copies,
    reason: null,
    made_by: null,
    approved_by: null,
  },
  legs: [
    { leg: '1', debit: 'assets:ü', credit: 'liabilities:b', asset: 'base/0xa', amount: '100', ...copies },
  ],
}

/** What another program would read out of it again. */
function decode(text: string): Pairs {
  const words: string[] = []
  let rest = Buffer.from(text)
  while (rest.length > 0) {
    const colon = rest.indexOf(':')
    const end = colon + 1 + Number(rest.subarray(0, colon).toString())
    words.push(rest.subarray(colon + 1, end).toString())
    expect(rest[end]).toBe(','.charCodeAt(0))
    rest = rest.subarray(end + 1)
  }
  return words.flatMap((word, place) => (place % 2 === 0 ? [[word, words[place + 1] ?? ''] as const] : []))
}

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', ',', ':', '0:,', '3:leg,', '1:a,1:b,'),
)
const rowOf = <Name extends string>(names: readonly Name[]) =>
  fc
    .tuple(...names.map(() => fc.option(anyText)))
    .map(
      (values) =>
        Object.fromEntries(names.map((name, place) => [name, values[place] ?? null])) as LedgerTextRow<Name>,
    )
const anyRows: fc.Arbitrary<JournalRows> = fc.record({
  journal: rowOf(journalFields),
  legs: fc.array(rowOf(legFields), { maxLength: 3 }),
})

function whole(names: readonly string[], row: Map<string, string>) {
  return Object.fromEntries(names.map((name) => [name, row.get(name) ?? null]))
}

test('an encoding is read back as what was encoded, so that no two journals have the same', () => {
  fc.assert(
    fc.property(anyRows, (rows) => {
      const read = decode(encodePairs(journalPairs(rows)))
      const journal = new Map(read.filter(([name]) => name !== 'leg'))
      const legs = read.filter(([name]) => name === 'leg').map(([, leg]) => new Map(decode(leg)))
      expect({
        journal: whole(journalFields, journal),
        legs: legs.map((leg) => whole(legFields, leg)),
      }).toEqual(rows)
    }),
  )
})

test('a journal is encoded as documented', () => {
  const { legs, ...rest } = example
  expect(encodePairs(journalPairs({ ...rest, legs: [] }))).toMatchInlineSnapshot(
    `"2:id,1:7,11:posting_key,20:deposit/base/0xp/1#1,4:kind,7:deposit,10:deposit_id,1:3,8:transfer,10:base/0xp/1,8:event_at,27:2026-01-01T10:00:00.000000Z,11:recorded_at,27:2026-01-01T10:00:00.000000Z,6:period,10:2026-01-01,"`,
  )
  const [, leg = ''] = journalPairs({ ...rest, legs }).at(-1) ?? []
  expect(leg).toMatchInlineSnapshot(
    `"3:leg,1:1,5:debit,9:assets:ü,6:credit,13:liabilities:b,5:asset,8:base/0xa,6:amount,3:100,8:event_at,27:2026-01-01T10:00:00.000000Z,11:recorded_at,27:2026-01-01T10:00:00.000000Z,6:period,10:2026-01-01,"`,
  )
})

test('a leaf is the SHA-256 of a zero byte and the encoding', () => {
  const encoded = Buffer.from(encodePairs(journalPairs(example)))
  const leaf = createHash('sha256').update(Buffer.concat([Buffer.of(0), encoded]))
  expect(leafOf(example)).toEqual(leaf.digest())
})

const [firstLeg] = example.legs
const changed = [
  ...journalFields.map(
    (name) => [`journal ${name}`, { ...example, journal: { ...example.journal, [name]: '?' } }] as const,
  ),
  ...legFields.map(
    (name) => [`leg ${name}`, { ...example, legs: [{ ...firstLeg, [name]: '?' }] } as JournalRows] as const,
  ),
  ['one leg less', { ...example, legs: [] }] as const,
  ['a leg twice', { ...example, legs: [...example.legs, ...example.legs] }] as const,
  ['nothing for a text', { ...example, journal: { ...example.journal, reverses: '' } }] as const,
]

test.each(changed)('the leaf is another where something is changed: %s', (_what, rows) => {
  expect(leafOf(rows)).not.toEqual(leafOf(example))
})

test('a seal is over each of its fields', () => {
  const seal: Seal = withHash({
    number: '2',
    after: '10',
    last: '20',
    journals: '10',
    root: 'a'.repeat(64),
    previous: 'b'.repeat(64),
    sealedAt: time,
  })
  const fields = Object.keys(seal).filter((name) => name !== 'hash')
  const hashes = fields.map((name) => hashSeal({ ...seal, [name]: '3' }))
  expect(new Set([seal.hash, ...hashes]).size).toBe(fields.length + 1)
})
