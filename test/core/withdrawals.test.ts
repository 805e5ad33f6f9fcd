import { expect, test } from 'vitest'
import type { Address } from '../../src/core/asset.ts'
import { accounts } from '../../src/core/chart.ts'
import { decide, type GroupVerdict } from '../../src/core/decide.ts'
import type { Observation } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import type { ContraRule } from '../../src/core/owed.ts'
import type { Journal } from '../../src/core/posting.ts'
import { groupOf } from '../support/any-evidence.ts'
import {
  arbitrum,
  at,
  credit,
  delivery,
  liquidity,
  policy,
  recipient,
  txId,
  usdcOnBase,
  type WithdrawalChanges,
  withdrawal as withdrawn,
} from '../support/evidence.ts'

const tx = txId('pay out')
const stated = 40_000_000n as Amount

const withdrawal = (changes: WithdrawalChanges = {}) => withdrawn({ tx, ...changes })

const paid = (changes = {}) => delivery({ tx, amount: stated, from: liquidity, ...changes })
const late = at(3000)
const senders = new Set([`${arbitrum}/${liquidity}`])

type Asked = { now?: Date; contras?: readonly ContraRule[]; booked?: readonly Journal[] }

function decided(
  observations: readonly Observation[],
  { now = late, contras = [], booked = [] }: Asked = {},
): GroupVerdict {
  return decide(groupOf(observations, booked), { policy, routes: [], senders, contras }, now)
}

const states = (verdict: GroupVerdict) => verdict.withdrawals.map(({ state }) => state)
const problems = (verdict: GroupVerdict) =>
  verdict.withdrawals.map(({ mismatch }) => mismatch?.detail.problem)
const lines = (verdict: GroupVerdict) =>
  verdict.withdrawalJournals.flatMap(({ kind, transfers }) =>
    transfers.map(({ debit, credit: from, asset, amount }) => ({ kind, debit, from, asset, amount })),
  )

const owed = accounts.deposits({ kind: 'stable_wallet', id: 'savings' })
const held = accounts.stableWallet('savings')
const whole = { kind: 'withdrawal', debit: owed, from: held, asset: credit, amount: stated }

test('a withdrawal is booked once its transfer is final, and the transfer is no unreported delivery', () => {
  const verdict = decided([withdrawal({ status: 'sent' }), paid()])
  expect(states(verdict)).toEqual(['paid'])
  expect(lines(verdict)).toEqual([whole])
  expect(verdict.unmatchedDeliveries).toEqual([])
  expect(decided([paid()]).unmatchedDeliveries).toHaveLength(1)
  const again = decided([withdrawal(), paid()], { booked: verdict.withdrawalJournals })
  expect(again.withdrawalJournals).toEqual([])
})

test.each<[string, Observation[], string]>([
  ['requested', [withdrawal({ status: 'requested', tx: null })], 'requested'],
  ['sent', [withdrawal({ status: 'sent' }), paid({ stage: 'seen' })], 'sent'],
  ['failed', [withdrawal({ status: 'failed', tx: null })], 'failed'],
])('one that is %s books nothing and is no mismatch', (_what, observations, state) => {
  const verdict = decided(observations)
  expect({ states: states(verdict), problems: problems(verdict), lines: lines(verdict) }).toEqual({
    states: [state],
    problems: [undefined],
    lines: [],
  })
})

test.each<[string, Observation[], RegExp]>([
  ['without a transfer', [withdrawal()], /no transfer is on the chain/],
  ['with another amount', [withdrawal(), paid({ amount: 39_000_000n })], /another amount or asset/],
  ['in another asset', [withdrawal(), paid({ asset: usdcOnBase })], /another amount or asset/],
  ['to another address', [withdrawal(), paid({ to: '0xother' as Address })], /no transfer is on the chain/],
])('one %s is unproved, and is not booked', (_what, observations, problem) => {
  const verdict = decided(observations)
  expect(states(verdict)).toEqual(['unproved'])
  expect(problems(verdict)[0]).toMatch(problem)
  expect(verdict.withdrawals[0]?.mismatch?.loss).toMatchObject({ asset: credit, amount: stated })
  expect(lines(verdict)).toEqual([])
})

test.each<[string, Observation[]]>([
  ['failed', [withdrawal({ status: 'failed' })]],
  [
    'failed later, without its transaction',
    [withdrawal({ status: 'sent' }), withdrawal({ status: 'failed', tx: null, receivedAt: at(12) })],
  ],
])('one that the service calls %s is booked if it is on the chain, and is a mismatch', (_what, claims) => {
  const verdict = decided([...claims, paid()])
  expect(states(verdict)).toEqual(['paid'])
  expect(problems(verdict)[0]).toMatch(/calls it failed/)
  expect(lines(verdict)).toEqual([whole])
})

const again = txId('again')

test.each<[string, Observation[], string]>([
  [
    'sent again',
    [
      withdrawal({ status: 'failed', occurredAt: at(10) }),
      withdrawal({ status: 'sent', tx: again, occurredAt: at(11) }),
    ],
    'sent',
  ],
  [
    'called failed at last',
    [
      withdrawal({ status: 'failed', occurredAt: at(11) }),
      withdrawal({ status: 'sent', occurredAt: at(10), receivedAt: at(12) }),
    ],
    'failed',
  ],
  [
    'read later, at one time of the service',
    [withdrawal({ status: 'failed' }), withdrawal({ status: 'sent', receivedAt: at(12) })],
    'sent',
  ],
  [
    'dated by a clock that was ahead',
    [
      withdrawal({ status: 'failed', occurredAt: at(100) }),
      withdrawal({ status: 'sent', occurredAt: at(12), receivedAt: at(13) }),
    ],
    'sent',
  ],
])('the newest statement counts: %s', (_what, claims, state) => {
  expect(states(decided(claims))).toEqual([state])
  expect(states(decided(claims.toReversed()))).toEqual([state])
})

test('one that is sent again is booked by its second transaction', () => {
  const failed = withdrawal({ status: 'failed' })
  const second = withdrawal({ status: 'sent', tx: again, occurredAt: at(20), receivedAt: at(21) })
  const verdict = decided([failed, second, paid({ tx: again })])
  expect(problems(verdict)).toEqual([undefined])
  expect(lines(verdict)).toEqual([whole])
})

test('the transfer has until the deadline of a delivery, and is looked for by its transaction', () => {
  const dueAt = new Date(at(10).getTime() + policy.settlementWithinMs)
  const early = decided([withdrawal()], { now: at(12) })
  expect(states(early)).toEqual(['sent'])
  expect(early.recheckAt).toEqual(dueAt)
  expect(early.withdrawals[0]?.unseen).toEqual([
    { role: 'recipient', network: arbitrum, tx, address: recipient },
  ])
  expect(states(decided([withdrawal()], { now: dueAt }))).toEqual(['unproved'])
  expect(decided([withdrawal(), paid()]).withdrawals[0]?.unseen).toEqual([])
})

test('what is booked is reversed if its block is gone', () => {
  const booked = decided([withdrawal(), paid()]).withdrawalJournals
  const gone = [withdrawal(), paid(), paid({ stage: 'orphaned', epoch: 1 })]
  const verdict = decided(gone, { booked })
  expect(lines(verdict)).toEqual([{ ...whole, kind: 'reversal', debit: held, from: owed }])
  expect(verdict.withdrawals[0]?.unseen).toHaveLength(1)
})

test('two withdrawals of one transaction each have a transfer of their own', () => {
  const both = [withdrawal(), withdrawal({ withdrawalId: 'w-2' })]
  expect(states(decided([...both, paid({ index: '1' }), paid({ index: '2' })]))).toEqual(['paid', 'paid'])
  expect(states(decided([...both, paid()]))).toEqual(['paid', 'unproved'])
})

test.each<[string, Omit<ContraRule, 'pattern'>, object[]]>([
  [
    'own money is with the recipient',
    { account: 'equity:treasury' },
    [{ ...whole, debit: accounts.forwarded(arbitrum, recipient) }],
  ],
  [
    'what is owed on another account falls there',
    { account: 'liabilities:customers:{id}' },
    [{ ...whole, debit: 'liabilities:customers:savings' }],
  ],
  [
    'a wallet of the customer is not in the books',
    { account: 'liabilities:customers:{id}', delivery: 'ends' },
    [],
  ],
])('%s', (_what, rule, expected) => {
  const contras = [{ pattern: {}, ...rule }]
  expect(lines(decided([withdrawal(), paid()], { contras }))).toEqual(expected)
})

test('one from before the history that is read is left out', () => {
  const since = { policy: { ...policy, historySinceMs: at(10).getTime() + 1 }, routes: [], senders }
  expect(decide(groupOf([withdrawal()]), since, late).withdrawals).toEqual([])
})
