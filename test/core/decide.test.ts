import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Address } from '../../src/core/asset.ts'
import { decide, type GroupVerdict } from '../../src/core/decide.ts'
import { type Observation, type ServiceId, type TransferRef, transferRef } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import { anyEvidence, groupOf, runs } from '../support/any-evidence.ts'
import {
  at,
  claim,
  credit,
  delivery,
  liquidity,
  noTimes,
  payment,
  policy,
  txId,
  walletAddress,
  walletApproval,
  webhook,
} from '../support/evidence.ts'

const rules = { policy, routes: [], senders: new Set([`arbitrum/${liquidity}`]) }
const late = at(600)

const decided = (observations: readonly Observation[], now = late) =>
  decide(groupOf(observations), rules, now)

function asText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value
}

/** Everything that a decision says. */
function digest(decision: GroupVerdict): string {
  return JSON.stringify(decision, asText)
}

test('the same evidence in any order, and any of it twice, gives the same decision', () => {
  const shuffled = anyEvidence.chain((all) =>
    fc.tuple(
      fc.constant(all),
      fc.shuffledSubarray([...all, ...all], { minLength: all.length * 2 }),
      fc.integer({ min: 0, max: 700 }),
    ),
  )
  fc.assert(
    fc.property(shuffled, ([all, other, minutes]) => {
      expect(digest(decided(other, at(minutes)))).toBe(digest(decided(all, at(minutes))))
    }),
    runs,
  )
})

test('whatever is told, each payment is one deposit and each service id is one', () => {
  fc.assert(
    fc.property(anyEvidence, (all) => {
      const { deposits } = decided(all)
      const refs = deposits.map(({ evidence }) => evidence.deposit?.ref).filter((ref) => ref !== undefined)
      const ids = deposits.map(({ evidence }) => evidence.serviceId).filter((id) => id !== null)
      expect(new Set(refs).size).toBe(refs.length)
      expect(new Set(ids)).toEqual(
        new Set(all.flatMap((one) => (one.kind === 'claim' ? [one.serviceId] : []))),
      )
      expect(ids).toHaveLength(new Set(ids).size)
    }),
    runs,
  )
})

/** What a decision comes to, without when it was made. */
function outcome({ deposits, unmatchedDeliveries }: GroupVerdict): string {
  const judged = deposits.map(({ verdict: { state, matrix, mismatches }, journals }) => ({
    state,
    matrix,
    mismatches,
    journals,
  }))
  return JSON.stringify({ judged, unmatchedDeliveries }, asText)
}

test('looking again at the time that was named is enough: in between nothing changes', () => {
  fc.assert(
    fc.property(anyEvidence, (all) => {
      const first = decided(all, at(41))
      const next = first.recheckAt ?? at(10_000)
      expect(next > at(41)).toBe(true)
      expect(outcome(decided(all, new Date(next.getTime() - 1)))).toBe(outcome(first))
    }),
    runs,
  )
})

test('what is closed is out of transit, and nothing of it stands in suspense', () => {
  fc.assert(
    fc.property(anyEvidence, (all) => {
      for (const { verdict, journals } of decided(all).deposits) {
        const moved = journals.filter(({ kind }) => kind !== 'conversion')
        if (verdict.state === 'reconciled' && moved.length > 0)
          expect(moved.map(({ kind }) => kind)).toEqual(['deposit', 'settlement'])
      }
    }),
    runs,
  )
})

test('no deposit has the same mismatch twice', () => {
  fc.assert(
    fc.property(anyEvidence, (all) => {
      for (const { verdict } of decided(all).deposits) {
        const kinds = verdict.mismatches.map(({ kind }) => kind)
        expect(new Set(kinds).size).toBe(kinds.length)
      }
    }),
    runs,
  )
})

const credited = {
  owner: walletApproval.owner,
  deposit: { address: walletAddress },
  settlement: { network: 'stable-wallet', address: 'savings' as Address, asset: credit, tx: null },
} as Parameters<typeof claim>[0]

test.each<[string, NonNullable<Parameters<typeof claim>[0]>['settlement']]>([
  ['to another wallet', { ...credited?.settlement, address: 'other' as Address }],
  ['on a chain', { network: 'arbitrum' as never, address: '0x1' as Address, tx: txId('forward') }],
])('a credit %s than the one that was paid is not proved, and is severe', (_where, settlement) => {
  const wrong = claim({ ...credited, ...(settlement && { settlement }) })
  const [deposit] = decided([wrong, webhook(credited), payment({ to: walletAddress })]).deposits
  expect(deposit?.verdict.state).toBe('settling')
  expect(deposit?.verdict.matrix.settlement.api).toBe('differs')
  expect(deposit?.verdict.mismatches.map(({ kind }) => kind)).toContain('recipient_mismatch')
  expect(deposit?.journals.map(({ kind }) => kind)).toEqual(['deposit'])
})

test('a payment to an address that nobody approved is neither settled nor reconciled', () => {
  const addressConflict = '0x00000000000000000000000000000000000000dd' as Address
  const said = claim({ ...credited, deposit: { address: addressConflict } })
  const [deposit] = decided([said, payment({ to: addressConflict })]).deposits
  expect(deposit?.verdict.state).toBe('settling')
  expect(
    deposit?.journals.flatMap(({ transfers }) => transfers.map(({ credit: account }) => account)),
  ).toEqual(['liabilities:suspense'])
})

test('a credit whose amount the API does not state is not proved', () => {
  const unstated = claim({ ...credited, settlement: { ...credited?.settlement, amount: null } })
  const [deposit] = decided([unstated, payment({ to: walletAddress })]).deposits
  expect(deposit?.verdict.state).toBe('settling')
})

test('one transfer to an address that is watched as both is a deposit of one and a delivery to the other', () => {
  const both = { network: payment().network, to: payment().to, tx: txId('both'), index: '7' }
  const { deposits, unmatchedDeliveries } = decide(
    groupOf([payment(both), delivery({ ...both, from: liquidity })]),
    { policy, routes: [], senders: new Set([`base/${liquidity}`]) },
    late,
  )
  expect(deposits.map(({ evidence }) => evidence.deposit?.tx)).toEqual([txId('both')])
  expect(unmatchedDeliveries.map(({ mismatch }) => mismatch.kind)).toEqual(['settlement_unreported'])
})

function refOf(index: string): TransferRef {
  return transferRef(payment({ index }))
}

test('a deposit known by its service id keeps its number when its payment turns out to be another', () => {
  const second = 'dep_2' as ServiceId
  const seven = payment({ index: '4', amount: 7n as Amount })
  const nine = payment({ index: '3', amount: 9n as Amount })
  const known = [
    { id: 1n, serviceId: 'dep_1' as ServiceId, transfer: null, milestones: noTimes },
    { id: 2n, serviceId: second, transfer: refOf('4'), milestones: noTimes },
    { id: 3n, serviceId: null, transfer: refOf('3'), milestones: noTimes },
  ]
  const observations = [
    claim({ deposit: { index: null, amount: 7n as Amount } }),
    claim({ serviceId: second, deposit: { index: null, amount: 9n as Amount } }),
    seven,
    nine,
  ]
  const { deposits } = decide({ ...groupOf(observations), deposits: known }, rules, late)
  expect(
    deposits.map(({ evidence, id, absorbed }) => [evidence.serviceId, evidence.deposit?.index, id, absorbed]),
  ).toEqual([
    ['dep_1', '4', 1n, []],
    ['dep_2', '3', 2n, [3n]],
  ])
})

test('a conversion of before the opening is part of its balances, and is not open', () => {
  const group = groupOf([webhook(), claim({ status: 'settling' }), payment(), delivery()])
  const kindsSince = (openedAt: Date | null) =>
    decide({ ...group, openedAt }, rules, late).deposits.flatMap(({ verdict }) =>
      verdict.mismatches.map(({ kind }) => kind),
    )
  expect(kindsSince(at(2))).toContain('conversion_open')
  expect(kindsSince(at(3))).not.toContain('conversion_open')
})
