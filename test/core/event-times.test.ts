import { expect, test } from 'vitest'
import type { Address } from '../../src/core/asset.ts'
import { decide } from '../../src/core/decide.ts'
import type { Claim, Observation } from '../../src/core/evidence.ts'
import type { Journal } from '../../src/core/posting.ts'
import { groupOf } from '../support/any-evidence.ts'
import {
  at,
  claim,
  credit,
  delivery,
  liquidity,
  payment,
  policy,
  walletAddress,
  walletApproval,
} from '../support/evidence.ts'

const rules = { policy, routes: [], senders: new Set([`arbitrum/${liquidity}`]) }

function decided(observations: readonly Observation[], booked: readonly Journal[] = []) {
  const [deposit] = decide(groupOf(observations, booked), rules, at(600)).deposits
  return { settledAt: deposit?.verdict.settledAt, journals: deposit?.journals ?? [] }
}

/** What is asked to be booked, each with the minute of which it is. */
const dated = (journals: readonly Journal[]) =>
  journals.map(({ key, eventAt }) => [
    key.replace(/\/base\/0x\w+\/0/, ''),
    (eventAt.getTime() - at(0).getTime()) / 60_000,
  ])

test('a payment that comes back in another block is booked anew, of the time of that block', () => {
  const before = [claim(), payment(), delivery()]
  const again = payment({ epoch: 1, blockHash: '0xother', blockAt: at(7) })
  const booked = decided(before).journals
  const { journals } = decided([...before, again], booked)
  expect(dated(journals)).toEqual([
    ['reversal/deposit#1', 0],
    ['deposit#2', 7],
  ])
  expect(decided([again, ...before], [...booked, ...journals]).journals).toEqual([])
})

const credited = (changes: Partial<Pick<Claim, 'occurredAt' | 'receivedAt' | 'status'>> = {}) =>
  claim({
    owner: walletApproval.owner,
    deposit: { address: walletAddress },
    settlement: { network: 'stable-wallet', address: 'savings' as Address, asset: credit, tx: null },
    ...changes,
  } as Parameters<typeof claim>[0])
const paid = payment({ to: walletAddress })

test('a credit is of the time at which the API first said so, however often the record is revised', () => {
  const first = [credited({ status: 'settling', occurredAt: at(1), receivedAt: at(2) }), credited(), paid]
  const revised = [
    credited({ receivedAt: at(60) }),
    credited({ occurredAt: at(80), receivedAt: at(81) }),
    credited({ occurredAt: at(90), receivedAt: at(91) }),
  ]
  const { journals } = decided(first)
  expect(dated(journals)).toEqual([
    ['deposit#1', 0],
    ['settlement#1', 3],
    ['conversion#1', 3],
  ])
  for (const all of [
    [...first, ...revised],
    [...revised, ...first],
  ])
    expect(decided(all, journals)).toEqual({ settledAt: at(5), journals: [] })
})

test.each([
  ['far ahead', 5000, 5],
  ['more than ten minutes ahead', 15.1, 5],
  ['ten minutes ahead of ours', 15, 15],
  ['far behind', -5000, 1],
])('what a service says whose clock is %s, dates a credit within bounds', (_what, minute, expected) => {
  const block = payment({ to: walletAddress, blockAt: at(1) })
  const { journals } = decided([credited({ occurredAt: at(minute) }), block])
  expect(dated(journals)).toEqual([
    ['deposit#1', 1],
    ['settlement#1', expected],
    ['conversion#1', expected],
  ])
})

test('an earlier word on a credit that comes late puts its date right', () => {
  const late = [credited({ occurredAt: at(80), receivedAt: at(81) }), paid]
  const booked = decided(late).journals
  const { settledAt, journals } = decided([...late, credited()], booked)
  expect(settledAt).toEqual(at(5))
  expect(dated(journals)).toEqual([
    ['reversal/settlement#1', 80],
    ['reversal/conversion#1', 80],
    ['settlement#2', 3],
    ['conversion#2', 3],
  ])
})
