import { expect, test } from 'vitest'
import { checkSecondPerson, type Stake } from '../../src/core/second-person.ts'

const stake: Stake = { network: 'base', symbol: 'USDC', decimals: 6, amount: 100_000_000n }
const alone = { by: 'erin', approvedBy: null }

test.each<[string, Partial<Stake>, Record<string, string>, boolean]>([
  ['without a limit', {}, {}, true],
  ['at the limit for all', {}, { all: '100' }, false],
  ['a unit above it', { amount: 100_000_001n }, { all: '100' }, true],
  ['at the limit of its asset, whatever that for all is', {}, { all: '1', 'base/USDC': '100' }, false],
  [
    'above the limit of its asset, whatever that for all is',
    {},
    { all: '999', 'base/USDC': '99.999999' },
    true,
  ],
  ['where only another asset has a limit', {}, { 'base/USDT': '999' }, true],
  ['where the limit has more digits than the asset', {}, { all: '100.0000009' }, false],
  ['just above such a limit', { amount: 100_000_001n }, { all: '100.0000009' }, true],
  ['of an asset without fractions', { decimals: 0, amount: 8n }, { all: '7.9' }, true],
  ['of an asset whose decimals are not known', { decimals: null }, { all: '999' }, true],
  ['of an amount that is not known', { amount: null }, { all: '999' }, true],
])('a decision %s', (_what, changes, limits, takesTwo) => {
  const decide = (approvedBy: string | null) => () =>
    checkSecondPerson({ ...stake, ...changes }, { ...alone, approvedBy }, new Map(Object.entries(limits)))
  if (takesTwo) expect(decide(null)).toThrow('takes a second person')
  else expect(decide(null)).not.toThrow()
  expect(decide('max')).not.toThrow()
})

test('the second person is somebody else, also where none is needed', () => {
  const limits = new Map([['all', '100']])
  for (const approvedBy of ['erin', 'Erin', 'ERIN']) {
    expect(() => checkSecondPerson(stake, { by: 'erin', approvedBy }, limits)).toThrow('cannot approve')
  }
})
