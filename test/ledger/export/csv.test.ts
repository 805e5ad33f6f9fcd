import { assert, constantFrom, oneof, property, string, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { csvLine } from '../../../src/ledger/export/csv.ts'

test.each([
  ['=HYPERLINK("http://x")', `"'=HYPERLINK(""http://x"")"`],
  ['+1+1', `'+1+1`],
  ['-1+1', `'-1+1`],
  ['@SUM(A1)', `'@SUM(A1)`],
  ['\t=1', `'\t=1`],
  ['  =1', `'  =1`],
  ['\uff1d1', `'\uff1d1`],
  ['\r=1', `"'\r=1"`],
  [`'text`, `''text`],
  ['-12.50', '-12.50'],
  ['-12.50E2', `'-12.50E2`],
  ['a,b\n"c"', `"a,b\n""c"""`],
  ['assets:in_transit:base', 'assets:in_transit:base'],
])('the cell %j is written as %j', (cell, written) => {
  expect(csvLine([cell])).toBe(`${written}\n`)
})

const odd = oneof(string(), string({ unit: 'grapheme' }), constantFrom('USDC', '', '=A1'))

test('no cell but a number begins like a formula', () => {
  assert(
    property(
      tuple(constantFrom('', ' ', '\u200b', '\n'), constantFrom('=', '+', '-', '@', '\t'), odd),
      (parts) => {
        const line = csvLine([parts.join('')])
        expect(line).toMatch(/^"?'|^-\d+(\.\d+)?\n$/)
      },
    ),
  )
})
