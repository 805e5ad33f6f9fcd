import { expect, test } from 'vitest'
import { decide } from '../../src/core/decide.ts'
import type { Claim, ClaimStatus, Observation, TransferDecision } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import type { Journal } from '../../src/core/posting.ts'
import { groupOf } from '../support/any-evidence.ts'
import {
  at,
  base,
  channelAddress,
  claim,
  delivery,
  payment,
  policy,
  recipient,
  txId,
  usdcOnArbitrum,
  usdcOnBase,
  webhook,
  writeOffOf,
} from '../support/evidence.ts'

const unsettled = { settlement: { tx: null, amount: null, fee: null } } as const
const held = claim({ ...unsettled, status: 'held', occurredAt: at(4) })
const refunded = (changes: Partial<Pick<Claim, 'occurredAt' | 'receivedAt'>> = {}) =>
  claim({ ...unsettled, status: 'refunded', occurredAt: at(20), receivedAt: at(21), ...changes })

function decided(observations: readonly Observation[], booked: readonly Journal[] = [], by = policy) {
  const rules = { policy: by, routes: [], senders: new Set<string>() }
  return decide(groupOf(observations, booked), rules, at(600)).deposits.flatMap(({ journals }) => [
    ...journals,
  ])
}

const shown = (journals: readonly Journal[]) =>
  journals.map(({ kind, eventAt, transfers }) => {
    const sides = transfers.map(({ debit, credit, amount }) => `${debit} / ${credit} ${amount}`)
    return `${kind} ${(eventAt.getTime() - at(0).getTime()) / 60_000} min: ${sides.join(', ')}`
  })

const paid = 'deposit 0 min: assets:in_transit:base / liabilities:deposits:channel:shop 100000000'
const back = 'refund 20 min: liabilities:deposits:channel:shop / assets:in_transit:base 100000000'

test('what the API says was refunded is neither in transit nor owed any more, from when it says so', () => {
  expect(shown(decided([held, refunded(), payment()]))).toEqual([paid, back])
})

test('a later revision of the record, and records in another order, do not move a refund', () => {
  const revised = refunded({ occurredAt: at(50), receivedAt: at(51) })
  expect(shown(decided([revised, refunded(), payment()]))).toEqual([paid, back])
  const booked = decided([held, refunded(), payment()])
  expect(decided([held, refunded(), revised, payment()], booked)).toEqual([])
})

test.each<[string, Observation[]]>([
  ['a webhook alone', [webhook({ ...unsettled, status: 'refunded' }), held, payment()]],
  ['the word that it is held', [held, payment()]],
])('%s books no refund', (_what, observations) => {
  expect(shown(decided(observations))).toEqual([paid])
})

test('a refund of a payment that is not final is not booked before the payment is', () => {
  expect(decided([refunded(), payment({ stage: 'seen' })])).toEqual([])
})

test('a refund is taken back, and the delivery booked that the chain shows', () => {
  const booked = decided([refunded(), payment()])
  const reported = claim({ occurredAt: at(30), receivedAt: at(31) })
  const journals = decided([refunded(), reported, payment(), delivery()], booked)
  expect(journals.map(({ kind, reverses }) => [kind, reverses?.split('/')[0]])).toEqual([
    ['reversal', 'refund'],
    ['settlement', undefined],
    ['conversion', undefined],
  ])
  expect(decided([delivery(), payment(), reported, refunded()], [...booked, ...journals])).toEqual([])
})

const settled = `settlement 3 min: trading:${usdcOnBase} / assets:in_transit:base 100000000, assets:forwarded:arbitrum:${recipient} / trading:${usdcOnArbitrum} 99900000`
const fee = `expenses:fees:service / trading:${usdcOnArbitrum} 100000`
const shop = 'liabilities:deposits:channel:shop'
const moved = `conversion 3 min: ${shop} / trading:${usdcOnBase} 100000000, trading:${usdcOnArbitrum} / ${shop} 100000000`

test.each(['refunded', 'failed'] as const)(
  'what is delivered stays booked where the API goes on to call it %s and states no amount',
  (status) => {
    const before = [claim(), payment(), delivery()]
    const booked = decided(before)
    const later = claim({ ...unsettled, status, occurredAt: at(20), receivedAt: at(21) })
    expect(decided([...before, later], booked)).toEqual([])
    expect(shown(decided([later, ...before]))).toEqual([paid, `${settled}, ${fee}`, moved])
  },
)

test('so does one that lacks no more than the policy accepts', () => {
  const accepting = { ...policy, tolerance: { amount: 10_000n as Amount, bps: 0 } }
  const before = [claim(), payment(), delivery({ amount: 99_895_000n as Amount })]
  const booked = decided(before, [], accepting)
  expect(booked.flatMap(({ transfers }) => transfers.map(({ debit }) => debit))).toContain(
    'expenses:tolerance',
  )
  expect(decided([...before, refunded()], booked, accepting)).toEqual([])
})

test('of what the API never stated the chain alone is booked, without a fee', () => {
  const said = { settlement: { amount: null, fee: null }, occurredAt: at(20), receivedAt: at(21) }
  const reported = (status: ClaimStatus) => [claim({ ...said, status }), payment(), delivery()]
  expect(shown(decided(reported('settling')))).toEqual([paid])
  expect(shown(decided(reported('refunded')))).toEqual([paid, settled])
})

test('where a part was delivered no refund of the whole is booked, and what is left stays in transit', () => {
  const begun = claim({ status: 'settling' })
  const part = delivery({ amount: 40_000_000n as Amount })
  for (const word of [refunded(), claim({ status: 'refunded', occurredAt: at(20), receivedAt: at(21) })])
    expect(shown(decided([begun, word, payment(), part]))).toEqual([paid])
  const booked = decided([begun, refunded(), payment()])
  const journals = decided([begun, refunded(), payment(), part], booked)
  expect(journals.map(({ kind }) => kind)).toEqual(['reversal'])
})

test.each([
  { clock: 'ahead', states: 5000, minute: 21 },
  { clock: 'behind', states: -5000, minute: 1 },
])('a clock of the service that is $clock does not date a refund', ({ states, minute }) => {
  const [, refund] = decided([refunded({ occurredAt: at(states) }), payment({ blockAt: at(1) })])
  expect(refund).toMatchObject({ kind: 'refund', eventAt: at(minute) })
})

test('a refund is reversed with its payment where that is gone', () => {
  const booked = decided([refunded(), payment()])
  const gone = payment({ stage: 'orphaned', epoch: 1 })
  expect(decided([refunded(), payment(), gone], booked).map(({ kind }) => kind)).toEqual([
    'reversal',
    'reversal',
  ])
})

test('a refund outdoes a write-off', () => {
  const place = { role: 'deposit', network: base, tx: txId('pay'), index: '0', to: channelAddress } as const
  const writeOff: TransferDecision = {
    kind: 'decision',
    id: 'one',
    ...place,
    verdict: writeOffOf('assets:receivable:service'),
    by: 'erin',
    approvedBy: 'max',
    reason: 'they do not answer',
    receivedAt: at(10),
  }
  const booked = decided([held, writeOff, payment()])
  expect(booked.map(({ kind }) => kind)).toEqual(['deposit', 'write_off'])
  const journals = decided([held, writeOff, refunded(), payment()], booked)
  expect(journals.map(({ kind }) => kind)).toEqual(['reversal', 'refund'])
})
