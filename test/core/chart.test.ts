import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  accounts,
  builtInAccounts,
  isAccount,
  matchesPattern,
  patternsOverlap,
} from '../../src/core/chart.ts'
import { runs } from '../support/any-evidence.ts'

test.each<[string, string, boolean]>([
  ['assets:in_transit:base', 'assets:in_transit:base', true],
  ['assets:in_transit:base', 'assets:in_transit:*', true],
  ['assets:in_transit:base', 'assets:*:base', true],
  ['assets:in_transit:base', '*', true],
  ['assets:in_transit:base', 'assets:in_transit', false],
  ['assets:in_transit:base', 'assets:in_transit:*e2', false],
  ['assets:in_transit:*', 'assets:in_transit:base', false],
  ['liabilities:deposits:channel:a:b', 'liabilities:deposits:channel:*', true],
])('whether %s fits %s is %s', (account, pattern, isFitting) => {
  expect(matchesPattern(account, pattern)).toBe(isFitting)
})

test.each<[string, string, boolean]>([
  ['assets:*', '*:base', true],
  ['a*b', '*ab', true],
  ['a*b', 'b*a', false],
  ['ab', 'a', false],
  ['**', '', true],
  ['', '', true],
])('whether %j and %j have a text in common is %s', (one, other, isShared) => {
  expect(patternsOverlap(one, other)).toBe(isShared)
  expect(patternsOverlap(other, one)).toBe(isShared)
})

test.each<[string, boolean]>([
  ['assets', false],
  ['assets:bank', true],
  ['assets:bank:', false],
  ['my:assets:bank', false],
  ['assets:two words', false],
  [`assets:${'x'.repeat(293)}`, true],
  [`assets:${'x'.repeat(294)}`, false],
])('whether %j is an account is %s', (text, isOne) => {
  expect(isAccount(text)).toBe(isOne)
})

const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 })
const texts = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 5 })

const expression = (pattern: string) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`)

test('patterns that one text fits have a text in common', () => {
  fc.assert(
    fc.property(letters, letters, texts, (one, other, text) => {
      expect(matchesPattern(text, one)).toBe(expression(one).test(text))
      if (matchesPattern(text, one) && matchesPattern(text, other))
        expect(patternsOverlap(one, other)).toBe(true)
    }),
    runs,
  )
})

test('all accounts that deposits are booked to are in the chart', () => {
  const owner = { kind: 'channel', id: 'shop' } as const
  const used = Object.values(accounts).map((account) =>
    typeof account !== 'function'
      ? account
      : account === accounts.deposits
        ? accounts.deposits(owner)
        : (account as (...words: string[]) => string)('base', 'x'),
  )
  const chart = builtInAccounts(['base'])
  for (const account of used) {
    expect(isAccount(account)).toBe(true)
    expect(chart.filter((pattern) => matchesPattern(account, pattern))).toHaveLength(1)
  }
})
