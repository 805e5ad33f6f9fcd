import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Amount, formatAmount, parseAmount, toAmount } from '../../src/core/money.ts'
import { runs } from '../support/any-evidence.ts'

const max = 2n ** 256n - 1n
const anyAmount = fc.bigInt({ min: 0n, max }).map((one) => one as Amount)
const anyDecimals = fc.integer({ min: 0, max: 38 })

test('an amount survives being written and read, to the last digit', () => {
  fc.assert(
    fc.property(anyAmount, anyDecimals, (amount, decimals) => {
      expect(parseAmount(formatAmount(amount, decimals), decimals)).toBe(amount)
    }),
    runs,
  )
})

test('a written amount has every fraction digit of its asset, and the digits of the integer', () => {
  fc.assert(
    fc.property(anyAmount, anyDecimals, (amount, decimals) => {
      const text = formatAmount(amount, decimals)
      expect(BigInt(text.replace('.', ''))).toBe(amount)
      expect(text.split('.')[1]?.length ?? 0).toBe(decimals)
      expect(formatAmount(0n - amount, decimals)).toBe(amount === 0n ? text : `-${text}`)
    }),
    runs,
  )
})

test('more fraction digits than the asset has are refused, even zeros', () => {
  fc.assert(
    fc.property(anyAmount, fc.integer({ min: 0, max: 30 }), (amount, decimals) => {
      expect(() => parseAmount(formatAmount(amount, decimals + 1), decimals)).toThrow('amount_malformed')
    }),
    runs,
  )
})

test.each([
  ['1', 6, 1_000_000n],
  ['0', 0, 0n],
  ['0.000001', 6, 1n],
  ['1.5', 6, 1_500_000n],
  ['007', 0, 7n],
  [max.toString(), 0, max],
] as const)('reads %s with %i decimals as %i', (text, decimals, amount) => {
  expect(parseAmount(text, decimals)).toBe(amount)
})

test.each([
  '1.0000001',
  '-1',
  '+1',
  '1e6',
  '.5',
  '1.',
  '',
  ' 1',
  '1 ',
  '1\n',
  '0x1',
  '1,000',
  '1_000',
  'NaN',
  'Infinity',
  '١',
  '9'.repeat(79),
  '9'.repeat(78),
  (max + 1n).toString(),
])('refuses %j', (text) => {
  expect(() => parseAmount(text, 6)).toThrow('amount_malformed')
})

test('a count of a chain library is checked for its bounds', () => {
  expect(toAmount(max)).toBe(max)
  expect(() => toAmount(-1n)).toThrow('amount_malformed: text "-1", decimals 0')
  expect([formatAmount(0n, 6), formatAmount(-5n, 0), formatAmount(5n, 0)]).toEqual(['0.000000', '-5', '5'])
  expect(() => toAmount(max + 1n)).toThrow('amount_malformed')
})

test('what is refused is cut before it is repeated', () => {
  expect(() => parseAmount('x'.repeat(1_000_000), 6)).toThrow(/^amount_malformed: .{100,200}$/)
})
