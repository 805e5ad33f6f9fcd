import { assert, bigInt, nat, property, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { isRate, quote } from '../../../src/service/deposits/quote.ts'

const eth = { symbol: 'ETH', decimals: 18 }
const usdc = { symbol: 'USDC', decimals: 6 }
const sol = { symbol: 'SOL', decimals: 9 }

const ether = 10n ** 18n

test.each([
  { what: 'a whole coin', rate: '3000', of: ether, from: eth, to: usdc, amount: 3_000_000_000n },
  {
    what: 'a rate with a fraction',
    rate: '3000.123456',
    of: ether,
    from: eth,
    to: usdc,
    amount: 3_000_123_456n,
  },
  {
    what: 'a fraction below a unit',
    rate: '3000.1234569',
    of: ether,
    from: eth,
    to: usdc,
    amount: 3_000_123_456n,
  },
  { what: 'a small amount to more decimals', rate: '0.0066', of: 1n, from: usdc, to: sol, amount: 6n },
  { what: 'dust that is worth nothing', rate: '0.0001', of: 1n, from: sol, to: usdc, amount: 0n },
])('converts $what, floored', ({ rate, of, from, to, amount }) => {
  const prices = { [`${from.symbol}/${to.symbol}`]: rate }
  expect(quote({ prices, feeBasisPoints: 0, spreadBasisPoints: 0 }, of, { from, to })).toEqual({
    rate,
    amount,
    fee: 0n,
  })
})

test('an asset is worth itself without an entry', () => {
  const quoted = quote({ prices: {}, feeBasisPoints: 0, spreadBasisPoints: 0 }, 5n, { from: usdc, to: usdc })
  expect(quoted).toEqual({ rate: '1', amount: 5n, fee: 0n })
})

test('a pair that is not in the table has no quote', () => {
  expect(
    quote({ prices: { 'ETH/USDT': '1', 'SOL/USDC': '1' }, feeBasisPoints: 0, spreadBasisPoints: 0 }, 5n, {
      from: eth,
      to: usdc,
    }),
  ).toBeNull()
})

test.each<[string, Record<string, string>, string, string, string]>([
  ['the other way round', { 'ETH/USDC': '4000' }, 'USDC', 'ETH', '0.00025'],
  ['by a common quote', { 'ETH/USDC': '3000', 'SOL/USDC': '150' }, 'ETH', 'SOL', '20'],
  ['by a common base', { 'USD/ETH': '0.0005', 'USD/SOL': '0.01' }, 'ETH', 'SOL', '20'],
  ['one price of each kind', { 'ETH/USDC': '3000', 'USDC/SOL': '0.01' }, 'ETH', 'SOL', '30'],
  ['rounded down', { 'ETH/USDC': '3', 'SOL/USDC': '2' }, 'SOL', 'ETH', `0.${'6'.repeat(26)}`],
  ['stated before derived', { 'ETH/SOL': '19', 'ETH/USDC': '3000', 'SOL/USDC': '150' }, 'ETH', 'SOL', '19'],
  ['its own pair first', { 'SOL/ETH': '0.1', 'ETH/USDC': '3000', 'SOL/USDC': '150' }, 'ETH', 'SOL', '10'],
  [
    'of two third assets the first by name',
    { 'ETH/USDC': '3000', 'SOL/USDC': '150', 'ETH/EUR': '2000', 'SOL/EUR': '200' },
    'ETH',
    'SOL',
    '10',
  ],
])('a price that is not in the table is derived: %s', (...[, prices, from, to, rate]) => {
  const terms = { prices, feeBasisPoints: 0, spreadBasisPoints: 0 }
  const sides = { from: { symbol: from, decimals: 18 }, to: { symbol: to, decimals: 18 } }
  expect(quote(terms, ether, sides)?.rate).toBe(rate)
})

test('by a derived price nobody gets more than the prices of both assets give, and less by under two units', () => {
  const amounts = bigInt({ min: 1n, max: 10n ** 24n })
  const prices = nat(10 ** 9).map((cents) => cents + 1)
  assert(
    property(amounts, prices, prices, (amount, one, other) => {
      const table = { 'SOL/USD': `${one}.25`, 'ETH/USD': `${other}.75` }
      const terms = { prices: table, feeBasisPoints: 0, spreadBasisPoints: 0 }
      const quoted = quote(terms, amount, { from: sol, to: { symbol: 'ETH', decimals: 9 } })
      const exact = (amount * BigInt(one * 100 + 25)) / BigInt(other * 100 + 75)
      const short = exact - (quoted?.amount ?? 0n)
      expect(short).toBeGreaterThanOrEqual(0n)
      expect(short).toBeLessThan(2n)
    }),
  )
})

test('the rate that is stated is the price less the spread, and is the rate that is applied', () => {
  const terms = { prices: { 'ETH/USDC': '3000.5' }, spreadBasisPoints: 25, feeBasisPoints: 0 }
  expect(quote(terms, ether, { from: eth, to: usdc })).toEqual({
    rate: '2992.99875',
    amount: 2_992_998_750n,
    fee: 0n,
  })
})

test('an asset that is only moved bears no spread', () => {
  const terms = { prices: {}, spreadBasisPoints: 25, feeBasisPoints: 0 }
  expect(quote(terms, 5n, { from: usdc, to: usdc })).toEqual({ rate: '1', amount: 5n, fee: 0n })
})

test('by the stated rate, delivery, fee and less than one unit of rounding add up to what was paid', () => {
  const amounts = bigInt({ min: 1n, max: 10n ** 30n })
  const prices = tuple(nat(10 ** 9), nat(10 ** 9)).map(([whole, fraction]) => `${whole}.${fraction}1`)
  const points = tuple(nat(9999), nat(9999))
  assert(
    property(amounts, prices, points, (amount, price, [feeBasisPoints, spreadBasisPoints]) => {
      const terms = { prices: { 'ETH/USDC': price }, spreadBasisPoints, feeBasisPoints }
      const quoted = quote(terms, amount, { from: eth, to: usdc })
      const rate = quoted?.rate ?? ''
      expect(isRate(rate)).toBe(true)
      const digits = rate.split('.')[1]?.length ?? 0
      const scale = 10n ** BigInt(digits + eth.decimals)
      const value = amount * BigInt(rate.replace('.', '')) * 10n ** BigInt(usdc.decimals)
      const gross = (quoted?.amount ?? 0n) + (quoted?.fee ?? 0n)
      expect(value - gross * scale).toBeGreaterThanOrEqual(0n)
      expect(value - gross * scale).toBeLessThan(scale)
      expect(quoted?.fee).toBe((gross * BigInt(feeBasisPoints)) / 10_000n)
    }),
  )
})

test.each(['1', '0.5', '3000.000001'])('takes %j as a rate', (text) => expect(isRate(text)).toBe(true))
test.each(['0', '0.0', '', '-1', '1e3', '.5', '1.', '1,5'])('refuses %j as a rate', (text) => {
  expect(isRate(text)).toBe(false)
})
