import { expect, test } from 'vitest'
import { isWithinLimit, type Stake } from '../../src/core/second-person.ts'

const stake: Stake = { network: 'base', symbol: 'USDC', decimals: 6, amount: 100_000_000n }
type Case = [string, Partial<Stake>, Record<string, string>]

const isWithin = (changes: Partial<Stake>, limits: Record<string, string>) =>
  isWithinLimit({ ...stake, ...changes }, new Map(Object.entries(limits)))

test.each<Case>([
  ['without a limit', {}, {}],
  ['a unit above the limit for all', { amount: 100_000_001n }, { all: '100' }],
  ['above the limit of its asset, regardless of that for all', {}, { all: '999', 'base/USDC': '99.999999' }],
  ['if only another asset has a limit', {}, { 'base/USDT': '999' }],
  ['just above a limit with more digits than the asset', { amount: 100_000_001n }, { all: '100.0000009' }],
  ['of an asset without fractions', { decimals: 0, amount: 8n }, { all: '7.9' }],
  ['of an asset whose decimals are not known', { decimals: null }, { all: '999' }],
  ['of an amount that is not known', { amount: null }, { all: '999' }],
])('a decision %s takes two people', (_what, changes, limits) => {
  expect(isWithin(changes, limits)).toBe(false)
})

test.each<Case>([
  ['at the limit for all', {}, { all: '100' }],
  ['at a limit with a fraction', { amount: 100_500_000n }, { all: '100.5' }],
  ['at the limit of its asset, regardless of that for all', {}, { all: '1', 'base/USDC': '100' }],
  ['at a limit with more digits than the asset', {}, { all: '100.0000009' }],
])('a decision %s takes one', (_what, changes, limits) => {
  expect(isWithin(changes, limits)).toBe(true)
})
