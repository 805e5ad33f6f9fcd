import { expect, test } from 'vitest'
import { faultsOf, parse } from '../support/settings-text.ts'

test('nothing is valued by default; where a currency is named, prices may be a day old', () => {
  expect(parse('').valuation).toBeNull()
  expect(parse('valuation: { currency: EUR }').valuation).toEqual({
    currency: 'EUR',
    maxAgeMs: 86_400_000,
    own: [],
    method: 'fifo',
    pool: 'account',
    prices: [],
    conversionRates: false,
  })
  expect(parse('valuation: { currency: CHF, maxAge: 90m }').valuation?.maxAgeMs).toBe(5_400_000)
})

test.each([
  ['{}', 'valuation.currency'],
  ['{ currency: euro }', 'must be three capital letters'],
  ['{ currency: EUR, maxAge: 1 day }', 'must be a duration'],
  ['{ currency: EUR, maxAge: 0s }', 'must be longer than 0'],
  ['{ currency: EUR, source: ECB }', 'source'],
  ['{ currency: EUR, prices: ["ftp://prices.example"] }', 'must be an address of the form http'],
  ['{ currency: EUR, method: lifo }', 'valuation.method'],
  ['{ currency: EUR, own: ["liabilities:*"] }', 'valuation.own.0: must be accounts below assets'],
  ['{ currency: EUR, own: ["assets:tresury:*"] }', 'valuation.own.0: must fit an account'],
])('%s is refused', (valuation, fault) => {
  expect(faultsOf(`valuation: ${valuation}`).join('\n')).toContain(fault)
})
