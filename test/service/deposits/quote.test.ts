import { assert, bigInt, nat, property, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { isRate, quote } from '../../../src/service/deposits/quote.ts'

const eth = { symbol: 'ETH', decimals: 18 }
const usdc = { symbol: 'USDC', decimals: 6 }
const sol = { symbol: 'SOL', decimals: 9 }

const ether = 10n ** 18n
const usdt = { symbol: 'USDT', decimals: 6 }

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
  expect(quote({ prices, feeBasisPoints: 0 }, of, { from, to })).toEqual({ rate, amount, fee: 0n })
})

test('takes the fee off, itself floored', () => {
  const quoted = quote({ prices: { 'USDC/USDT': '1' }, feeBasisPoints: 30 }, 1_000_333n, {
    from: usdc,
    to: usdt,
  })
  expect(quoted).toEqual({ rate: '1', amount: 997_333n, fee: 3_000n })
})

test('an asset is worth itself without an entry', () => {
  const quoted = quote({ prices: {}, feeBasisPoints: 0 }, 5n, { from: usdc, to: usdc })
  expect(quoted).toEqual({ rate: '1', amount: 5n, fee: 0n })
})

test('a pair that is not in the table has no quote', () => {
  expect(quote({ prices: { 'USDC/ETH': '1' }, feeBasisPoints: 0 }, 5n, { from: eth, to: usdc })).toBeNull()
})

test('what is delivered, the fee and less than one unit of rounding add up to the value', () => {
  const amounts = bigInt({ min: 1n, max: 10n ** 30n })
  const rates = tuple(nat(10 ** 9), nat(10 ** 9)).map(([whole, fraction]) => `${whole}.${fraction}1`)
  assert(
    property(amounts, rates, nat(9999), (amount, rate, feeBasisPoints) => {
      const quoted = quote({ prices: { 'ETH/USDC': rate }, feeBasisPoints }, amount, { from: eth, to: usdc })
      const fraction = rate.split('.')[1] ?? ''
      const scale = 10n ** BigInt(fraction.length + eth.decimals)
      const value = amount * BigInt(rate.replace('.', '')) * 10n ** BigInt(usdc.decimals)
      const gross = (quoted?.amount ?? 0n) + (quoted?.fee ?? 0n)
      expect(value - gross * scale).toBeGreaterThanOrEqual(0n)
      expect(value - gross * scale).toBeLessThan(scale)
    }),
  )
})

test.each(['1', '0.5', '3000.000001'])('takes %j as a rate', (text) => expect(isRate(text)).toBe(true))
test.each(['0', '0.0', '', '-1', '1e3', '.5', '1.', '1,5'])('refuses %j as a rate', (text) => {
  expect(isRate(text)).toBe(false)
})
