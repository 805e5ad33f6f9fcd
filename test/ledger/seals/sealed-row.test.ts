import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  alteredFields,
  encodeRow,
  fieldNames,
  leafOf,
  marksOf,
  type SealedRow,
  splitMarks,
  withField,
} from '../../../src/ledger/sealed-row.ts'
import { sealedTable, sealedTableNames } from '../../../src/ledger/sealed-tables.ts'

const time = '2026-01-01T10:00:00.000000Z'
const example: SealedRow = {
  table: 'ledger_journal',
  id: 7n,
  values: [
    '7',
    'deposit/base/0xp/1#1',
    'deposit',
    '3',
    'base/0xp/1',
    null,
    time,
    time,
    '2026-01-01',
    null,
    null,
    null,
  ],
  lines: [['1', 'assets:ü', 'liabilities:b', 'base/0xa', '100', time, time, '2026-01-01']],
}

type Pairs = readonly (readonly [name: string, value: string])[]

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
  fc.constantFrom('', ',', ':', '0:,', '4:line,', '1:a,1:b,'),
)
const textsOf = (count: number) => fc.array(fc.option(anyText), { minLength: count, maxLength: count })
const anyRow: fc.Arbitrary<SealedRow> = fc.constantFrom(...sealedTableNames).chain((table) => {
  const lineNames = Object.keys(sealedTable(table).lines?.columns ?? {})
  return fc.record({
    table: fc.constant(table),
    id: fc.constant(1n),
    values: textsOf(fieldNames(table).length),
    lines: lineNames.length === 0 ? fc.constant([]) : fc.array(textsOf(lineNames.length), { maxLength: 3 }),
  })
})

const valuesOf = (names: readonly string[], pairs: Pairs) => {
  const read = new Map(pairs)
  return names.map((name) => read.get(name) ?? null)
}

test('an encoding is read back as what was encoded, so that no two rows have the same', () => {
  fc.assert(
    fc.property(anyRow, (row) => {
      const [[, table], ...read] = decode(encodeRow(row)) as [Pairs[0], ...Pairs]
      const lineNames = Object.keys(sealedTable(row.table).lines?.columns ?? {})
      const lines = read
        .filter(([name]) => name === 'line')
        .map(([, line]) => valuesOf(lineNames, decode(line)))
      const fields = read.filter(([name]) => name !== 'line')
      expect({ table, values: valuesOf(fieldNames(row.table), fields), lines }).toEqual({
        table: row.table,
        values: row.values,
        lines: row.lines,
      })
    }),
  )
})

test('a journal is encoded as documented, and its leaf is the SHA-256 of a zero byte and that', () => {
  const encoded = encodeRow({ ...example, lines: [] })
  expect(encoded).toMatchInlineSnapshot(
    `"5:table,14:ledger_journal,2:id,1:7,11:posting_key,20:deposit/base/0xp/1#1,4:kind,7:deposit,10:deposit_id,1:3,8:transfer,10:base/0xp/1,8:event_at,27:2026-01-01T10:00:00.000000Z,11:recorded_at,27:2026-01-01T10:00:00.000000Z,6:period,10:2026-01-01,"`,
  )
  const line = decode(encodeRow(example)).at(-1)?.[1]
  expect(line).toMatchInlineSnapshot(
    `"3:leg,1:1,5:debit,9:assets:ü,6:credit,13:liabilities:b,5:asset,8:base/0xa,6:amount,3:100,8:event_at,27:2026-01-01T10:00:00.000000Z,11:recorded_at,27:2026-01-01T10:00:00.000000Z,6:period,10:2026-01-01,"`,
  )
  const bytes = Buffer.concat([Buffer.of(0), Buffer.from(encodeRow(example))])
  expect(leafOf(example)).toEqual(createHash('sha256').update(bytes).digest())
})

test('rows of two tables with the same values have different leaves', () => {
  const [one, other] = (['price', 'mismatch_event'] as const).map((table) =>
    leafOf({ table, id: 1n, values: ['1'], lines: [] }),
  )
  expect(one).not.toEqual(other)
})

describe('the altered field is named, and the former value gives the sealed leaf again', () => {
  const names = [...fieldNames('ledger_journal'), 'line 1 amount', 'line 1 credit']
  test.each(names)('%s', (name) => {
    const altered = withField(example, name, 'another')
    expect(leafOf(altered)).not.toEqual(leafOf(example))
    expect(alteredFields(altered, marksOf(example))).toMatchObject([{ name, value: 'another' }])
  })

  test('empty text for none', () => {
    const altered = withField(example, 'reverses', '')
    expect(leafOf(altered)).not.toEqual(leafOf(example))
    expect(alteredFields(altered, marksOf(example))).toMatchObject([{ name: 'reverses', value: '' }])
  })

  test('with another number of lines, none is named', () => {
    expect(alteredFields({ ...example, lines: [] }, marksOf(example))).toBeNull()
  })
})

test('the marks of several rows are split again', () => {
  const rows = [example, { ...example, lines: [] }, withField(example, 'kind', 'refund')]
  expect(splitMarks(Buffer.concat(rows.map(marksOf)))).toEqual(rows.map(marksOf))
})
