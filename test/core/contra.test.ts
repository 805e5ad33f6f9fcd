import { expect, test } from 'vitest'
import { decide } from '../../src/core/decide.ts'
import type { Observation } from '../../src/core/evidence.ts'
import type { ContraRule } from '../../src/core/owed.ts'
import type { Journal } from '../../src/core/posting.ts'
import { groupOf } from '../support/any-evidence.ts'
import {
  arbitrum,
  at,
  base,
  claim,
  delivery,
  payment,
  policy,
  usdcOnBase,
  webhook,
} from '../support/evidence.ts'

function journals(contras: ContraRule[], observations: readonly Observation[], booked: Journal[] = []) {
  const rules = { policy, routes: [], senders: new Set<string>(), contras }
  return decide(groupOf(observations, booked), rules, at(600)).deposits.flatMap((one) => [...one.journals])
}

const all = [webhook(), claim(), payment(), delivery()]
const contrasOf = (contras: ContraRule[], observations: readonly Observation[] = all) =>
  journals(contras, observations)
    .filter(({ kind }) => kind === 'deposit')
    .map(({ transfers }) => transfers[0]?.credit)

test('without a rule a deposit is owed to its owner', () => {
  expect(contrasOf([])).toEqual(['liabilities:deposits:channel:shop'])
})

test('the first rule that fits a deposit says whose money it is', () => {
  const income = { pattern: { ownerId: 'shop' }, account: 'income:deposits:{kind}:{id}' }
  const other = { pattern: { ownerId: 'other' }, account: 'equity:own_funds' }
  const rest = { pattern: {}, account: 'liabilities:customers' }
  expect(contrasOf([other, income, rest])).toEqual(['income:deposits:channel:shop'])
  expect(contrasOf([other, rest, income])).toEqual(['liabilities:customers'])
})

test('a rule may name the route', () => {
  const route = { networkIn: base, networkOut: arbitrum }
  expect(contrasOf([{ pattern: route, account: 'income:sales' }])).toEqual(['income:sales'])
  expect(contrasOf([{ pattern: { networkIn: arbitrum }, account: 'income:sales' }])).toEqual([
    'liabilities:deposits:channel:shop',
  ])
})

test('what nobody has claimed stands in suspense, whatever the rules say', () => {
  expect(contrasOf([{ pattern: {}, account: 'income:sales' }], [payment()])).toEqual(['liabilities:suspense'])
})

test('a deposit that is booked under another rule is reversed and booked anew, and its settlement stays', () => {
  const booked = journals([], all)
  const rules = [{ pattern: {}, account: 'income:sales' }]
  const changed = journals(rules, all, booked)
  expect(changed.map(({ kind, transfers }) => [kind, transfers[0]?.debit, transfers[0]?.credit])).toEqual([
    ['reversal', 'liabilities:deposits:channel:shop', 'assets:in_transit:base'],
    // Nothing is owed any more that could move.
    ['reversal', `trading:${usdcOnBase}`, 'liabilities:deposits:channel:shop'],
    ['deposit', 'assets:in_transit:base', 'income:sales'],
  ])
  expect(journals(rules, all, [...booked, ...changed])).toEqual([])
})
