import { expect, test } from 'vitest'
import type { DecisionOutcome, Observation, TransferDecision } from '../../../src/core/evidence.ts'
import type { Journal } from '../../../src/core/posting.ts'
import { groupOf } from '../../support/any-evidence.ts'
import {
  at,
  base,
  channelAddress,
  claim,
  delivery,
  liquidity,
  payment,
  policy,
  txId,
  usdtOnBase,
  webhook,
  writeOffOf,
} from '../../support/evidence.ts'
import { decideSearched } from '../../support/searched.ts'

const lost: DecisionOutcome = writeOffOf('expenses:write_off')
const owed: DecisionOutcome = writeOffOf('assets:receivable:service')
const withdrawn: DecisionOutcome = { kind: 'write_off_withdrawn' }

function decision(verdict: DecisionOutcome, changes: Partial<TransferDecision> = {}): TransferDecision {
  const transfer = {
    role: 'deposit',
    network: base,
    tx: txId('pay'),
    index: '0',
    to: channelAddress,
  } as const
  const said = { by: 'erin', approvedBy: 'max', reason: 'the service is bankrupt' }
  return { kind: 'decision', id: 'one', ...transfer, verdict, ...said, receivedAt: at(120), ...changes }
}

const unsettled = { status: 'confirmed', settlement: { tx: null, amount: null, fee: null } } as const
const unpaid = [webhook(unsettled), claim(unsettled), payment()]

const senders = new Set([`arbitrum/${liquidity}`])

function decided(observations: readonly Observation[], booked: readonly Journal[] = []) {
  const [deposit] = decideSearched(
    groupOf(observations, booked),
    { policy, routes: [], senders },
    at(600),
  ).deposits
  return {
    journals: [...(deposit?.journals ?? [])],
    kinds: deposit?.verdict.mismatches.map(({ kind }) => kind) ?? [],
  }
}

function shown(journals: readonly Journal[]): string[] {
  return journals.map(({ kind, transfers }) =>
    [kind, ...transfers.map(({ debit, credit, amount }) => `${debit} / ${credit} ${amount}`)].join(' '),
  )
}

test('what is written off leaves transit for the account that was named, and its delivery is not missed', () => {
  expect(decided(unpaid).kinds).toContain('settlement_missing')
  const { journals, kinds } = decided([...unpaid, decision(lost)])
  expect(shown(journals)).toEqual([
    'deposit assets:in_transit:base / liabilities:deposits:channel:shop 100000000',
    'write_off expenses:write_off / assets:in_transit:base 100000000',
  ])
  expect(kinds).toEqual([])
  expect(shown(decided([...unpaid, decision(owed)]).journals)[1]).toBe(
    'write_off assets:receivable:service / assets:in_transit:base 100000000',
  )
})

test.each<[string, TransferDecision[], string[]]>([
  ['withdrawn', [decision(lost), decision(withdrawn, { receivedAt: at(121) })], ['deposit']],
  [
    'withdrawn and decided again',
    [
      decision(lost),
      decision(withdrawn, { receivedAt: at(121) }),
      decision(owed, { id: 'two', receivedAt: at(122) }),
    ],
    ['deposit', 'write_off'],
  ],
  ['of another transfer', [decision(lost, { index: '1' })], ['deposit']],
  ['of another address', [decision(lost, { to: liquidity })], ['deposit']],
  ['of a delivery', [decision(lost, { role: 'recipient' })], ['deposit']],
  ['of less than was paid', [decision({ ...lost, amount: 99_999_999n } as DecisionOutcome)], ['deposit']],
  ['of another asset', [decision({ ...lost, asset: usdtOnBase } as DecisionOutcome)], ['deposit']],
  ['of what a delivery lacks', [decision({ ...lost, of: 'shortage' } as DecisionOutcome)], ['deposit']],
])('a write-off %s, in whatever order it is heard', (_what, decisions, kinds) => {
  const isMissed = kinds.length === 1
  for (const heard of [decisions, decisions.toReversed()]) {
    const { journals, kinds: missed } = decided([...heard, ...unpaid])
    expect(journals.map(({ kind }) => kind)).toEqual(kinds)
    expect(missed.includes('settlement_missing')).toBe(isMissed)
  }
})

function kindsAfterAMonth(observations: readonly Observation[]): string[] {
  const { deposits } = decideSearched(
    groupOf(observations),
    { policy, routes: [], senders },
    at(60 * 24 * 30),
  )
  return deposits.flatMap(({ verdict }) => verdict.mismatches.map(({ kind }) => kind))
}

test.each([
  ['confirmed', 'settlement_missing'],
  ['failed', 'refund_due'],
] as const)('what is written off while %s is waited for no more, however long it takes', (status, kind) => {
  const reported = [webhook({ ...unsettled, status }), claim({ ...unsettled, status }), payment()]
  expect(kindsAfterAMonth(reported)).toContain(kind)
  expect(kindsAfterAMonth([...reported, decision(lost)])).toEqual([])
})

test('a delivery that is proved after all takes the write-off back', () => {
  const written = [...unpaid, decision(lost)]
  const booked = decided(written).journals
  const { journals, kinds } = decided([...written, webhook(), claim(), delivery()], booked)
  expect(journals.map(({ kind, key }) => `${kind} ${key.split('/')[0]}`)).toEqual([
    'reversal reversal',
    'settlement settlement',
    'conversion conversion',
  ])
  expect(kinds).toEqual([])
})

test('a delivery that the API does not state yet leaves the write-off standing, and is asked for', () => {
  const written = [...unpaid, decision(lost)]
  const found = decided([...written, webhook(), delivery()], decided(written).journals)
  expect(found.journals).toEqual([])
  expect(found.kinds).toContain('api_missing')
})

test('what is not final, or not booked, is not written off', () => {
  expect(decided([claim(unsettled), payment({ stage: 'seen' }), decision(lost)]).journals).toEqual([])
  const written = [...unpaid, decision(lost)]
  const gone = decided([...written, payment({ stage: 'orphaned', epoch: 1 })], decided(written).journals)
  expect(gone.journals.map(({ kind }) => kind)).toEqual(['reversal', 'reversal'])
})
