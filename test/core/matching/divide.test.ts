import { expect, test } from 'vitest'
import { decide, type ObservationGroup } from '../../../src/core/decide.ts'
import { type ServiceId, transferRef } from '../../../src/core/evidence.ts'
import type { Amount } from '../../../src/core/money.ts'
import { decision } from '../../support/decision.ts'
import {
  at,
  channelApproval,
  claim,
  delivery,
  elsewhere,
  noTimes,
  payment,
  policy,
  txId,
  usdcOnBase,
  webhook,
} from '../../support/evidence.ts'

const rules = { policy, routes: [], senders: new Set<string>() }
const late = at(600)

function decided(observations: ObservationGroup['observations']) {
  return decide({ observations, approvals: [channelApproval], deposits: [], journals: [] }, rules, late)
}

test('two payments in one transaction are given to the claims that state their amounts', () => {
  const second = 'dep_2' as ServiceId
  const { deposits } = decided([
    claim({ deposit: { index: null, amount: 7n as Amount } }),
    claim({ serviceId: second, deposit: { index: null, amount: 9n as Amount } }),
    payment({ index: '3', amount: 9n as Amount }),
    payment({ index: '4', amount: 7n as Amount }),
  ])
  const pairs = deposits.map(({ evidence }) => [evidence.serviceId, evidence.deposit?.index])
  expect(pairs).toEqual([
    ['dep_1', '4'],
    ['dep_2', '3'],
  ])
})

test('one payment cannot serve two deposits', () => {
  const twice = [
    claim(),
    claim({ serviceId: 'dep_2' as ServiceId, settlement: { tx: txId('other') } }),
    payment(),
  ]
  const { deposits } = decided(twice)
  const identity = deposits.map(({ verdict }) =>
    verdict.mismatches.filter(({ kind }) => kind === 'tx_reused' || kind === 'chain_missing'),
  )
  const detail = { transfer: transferRef(payment()), deposit: 'dep_1' }
  const loss = { asset: usdcOnBase, amount: 100_000_000n, whole: 100_000_000n }
  expect(identity).toEqual([[], [{ kind: 'tx_reused', detail, loss }]])
})

test('a payment that was ruled to belong to a deposit nobody has told of yet is not another one’s', () => {
  const ruled = decision('together', payment(), { serviceId: 'dep_2' as ServiceId })
  const [evidence] = decided([claim(), payment(), ruled]).deposits.map((one) => one.evidence)
  expect(evidence).toMatchObject({ deposit: null, reuse: { serviceId: 'dep_2' } })
})

test('a delivery that falls short is not taken for one to somebody else in the same transaction', () => {
  const short = delivery({ index: '1', amount: 90n as Amount })
  const others = delivery({ index: '0', amount: 99_900_000n as Amount, to: elsewhere })
  const { deposits } = decided([webhook(), claim(), payment(), others, short])
  expect(deposits.map(({ evidence }) => evidence.settlements.map(({ index }) => index))).toEqual([['1']])
})

test('a deposit known by a chain_transfer that came back under another index goes with its payment', () => {
  const gone = [payment({ stage: 'seen', index: '5' }), payment({ stage: 'orphaned', index: '5' })]
  const known = [
    { id: 1n, serviceId: 'dep_1' as ServiceId, transfer: null, milestones: noTimes },
    { id: 2n, serviceId: null, transfer: transferRef(payment({ index: '5' })), milestones: noTimes },
  ]
  const group = {
    observations: [webhook(), claim(), payment(), ...gone],
    approvals: [channelApproval],
    deposits: known,
    journals: [],
  }
  expect(decide(group, rules, late).deposits).toMatchObject([{ id: 1n, absorbed: [2n] }])
})

const gone = [payment({ index: '5' }), payment({ index: '5', stage: 'orphaned', epoch: 1 })]
const back = payment({ index: '9', epoch: 1, blockHash: '0xother' })
const reported = claim({ deposit: { index: '5' } })

test.each([
  ['that nobody told of', [], 2n],
  ['that the service knows by its old index', [reported], 1n],
])(
  'a booked payment %s, and that is final again under another index, is one deposit',
  (_which, claims, id) => {
    const group = { approvals: [channelApproval], deposits: [], journals: [] }
    const [before] = decide(
      { ...group, observations: [...claims, payment({ index: '5' })] },
      rules,
      late,
    ).deposits
    const booked = before?.journals ?? []
    expect(booked.map(({ kind }) => kind)).toEqual(['deposit'])
    const serviceId = before?.evidence.serviceId ?? null
    const transfer = transferRef(payment({ index: '5' }))
    const known = [{ id, serviceId, transfer, milestones: before?.milestones as never }]
    const observations = [...claims, ...gone, back]
    const after = decide({ ...group, deposits: known, journals: booked, observations }, rules, late)
    expect(after.deposits).toMatchObject([
      { id, absorbed: [], evidence: { serviceId, deposit: { index: '9' } } },
    ])
    expect(after.deposits.flatMap(({ verdict }) => verdict.mismatches.map(({ kind }) => kind))).not.toContain(
      'orphaned_after_booking',
    )
    const journals = after.deposits.flatMap((deposit) => deposit.journals)
    expect(journals.map(({ kind, transfer: of }) => [kind, of.slice(-1)])).toEqual([
      ['reversal', '5'],
      ['deposit', '9'],
    ])
    const again = decide(
      { ...group, deposits: known, journals: [...booked, ...journals], observations },
      rules,
      late,
    )
    expect(again.deposits.flatMap((deposit) => deposit.journals)).toEqual([])
  },
)

test('what became two deposits while a payment was on its way back becomes one again, the older', () => {
  const known = [payment({ index: '5' }), back].map((one, place) => {
    return { id: BigInt(place + 1), serviceId: null, transfer: transferRef(one), milestones: noTimes }
  })
  const group = { approvals: [channelApproval], deposits: known, journals: [], observations: [...gone, back] }
  expect(decide(group, rules, late).deposits).toMatchObject([{ id: 1n, absorbed: [2n] }])
})

test('a booked payment that is only seen again under another index stays told of as gone', () => {
  const observations = [...gone, { ...back, stage: 'seen' as const }]
  const { deposits } = decide(
    { observations, approvals: [channelApproval], deposits: [], journals: [] },
    rules,
    late,
  )
  expect(deposits.map(({ verdict }) => verdict.state)).toEqual(['orphaned', 'observed'])
})
