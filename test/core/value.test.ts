import { assert, bigInt, integer, property, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { formatMinor, minorPlaces, noValue, plus, times, toDecimal, toMinor } from '../../src/core/value.ts'

test.each([
  ['0.005', '0.00'],
  ['0.015', '0.02'],
  ['0.025', '0.02'],
  ['0.0250000000000000000000000000000000000001', '0.03'],
  ['-0.005', '0.00'],
  ['-0.015', '-0.02'],
  ['-0.0250001', '-0.03'],
  ['2.345', '2.34'],
  ['1.9950', '2.00'],
  ['7', '7.00'],
  ['7.1', '7.10'],
])('%s is %s to the cent: a half goes to the even neighbour', (exact, shown) => {
  expect(formatMinor(toMinor(toDecimal(exact), 'EUR'), 'EUR')).toBe(shown)
})

test.each([
  ['JPY', 0, '1234'],
  ['EUR', 2, '1234.50'],
  ['KWD', 3, '1234.500'],
])('%s has %i decimal places', (currency, places, shown) => {
  expect(minorPlaces(currency)).toBe(places)
  expect(formatMinor(toMinor(toDecimal('1234.5'), currency), currency)).toBe(shown)
})

test('amounts beyond the digits of a float are exact', () => {
  const value = times(
    toDecimal('115792089237316195423570985008687907853.269984665640564039'),
    toDecimal('0.9206'),
  )
  expect(value).toEqual({
    digits: 1_065_981_973_518_732_895_069_394_487_989_980_879_697_203_478_831_887_032_543_034n,
    scale: 22,
  })
})

const decimal = tuple(bigInt(-(10n ** 40n), 10n ** 40n), integer({ min: 0, max: 30 })).map(
  ([digits, scale]) => ({ digits, scale }),
)

test('a rounded value is at most half a coin from the exact one', () => {
  assert(
    property(decimal, (exact) => {
      const rest = plus({ digits: toMinor(exact, 'EUR'), scale: 2 }, { ...exact, digits: -exact.digits })
      const twice = 2n * (rest.digits < 0n ? -rest.digits : rest.digits)
      expect(twice <= 10n ** BigInt(rest.scale - 2)).toBe(true)
    }),
  )
})

test('a sum does not depend on its order', () => {
  assert(
    property(decimal, decimal, decimal, (one, other, third) => {
      const sums = [
        [one, other, third],
        [third, one, other],
      ].map((values) => values.reduce(plus, noValue))
      expect(
        toMinor(
          plus(sums[0] ?? noValue, { ...(sums[1] ?? noValue), digits: -(sums[1]?.digits ?? 0n) }),
          'EUR',
        ),
      ).toBe(0n)
    }),
  )
})
