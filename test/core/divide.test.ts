import { expect, test } from 'vitest'
import type { Address } from '../../src/core/asset.ts'
import { decide, type Group } from '../../src/core/decide.ts'
import { type ServiceId, transferRef } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import { at, channelApproval, claim, delivery, payment, policy, txId, webhook } from '../support/evidence.ts'

const rules = { policy, senders: new Set<string>() }
const late = at(600)
const elsewhere = '0x00000000000000000000000000000000000000dd' as Address

function decided(observations: Group['observations']) {
  return decide({ observations, approvals: [channelApproval], known: [], booked: [] }, rules, late)
}

test('two payments in one transaction are given to the claims that state their amounts', () => {
  const second = 'dep_2' as ServiceId
  const { deposits } = decided([
    claim({ deposit: { index: null, amount: 7n as Amount } }),
    claim({ serviceId: second, deposit: { index: null, amount: 9n as Amount } }),
    payment({ index: '3', amount: 9n as Amount }),
    payment({ index: '4', amount: 7n as Amount }),
  ])
  const pairs = deposits.map(({ dossier }) => [dossier.serviceId, dossier.deposit?.index])
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
  const kinds = decided(twice).deposits.map(({ verdict }) => verdict.mismatches.map(({ kind }) => kind))
  expect(kinds).toEqual([
    expect.not.arrayContaining(['chain_missing']),
    expect.arrayContaining(['chain_missing']),
  ])
})

test('a delivery that falls short is not taken for one to somebody else in the same transaction', () => {
  const short = delivery({ index: '1', amount: 90n as Amount })
  const others = delivery({ index: '0', amount: 99_900_000n as Amount, to: elsewhere })
  const { deposits } = decided([webhook(), claim(), payment(), others, short])
  expect(deposits.map(({ dossier }) => dossier.settlements.map(({ index }) => index))).toEqual([['1']])
})

test('a deposit known by a sighting that came back under another index goes with its payment', () => {
  const gone = [payment({ stage: 'seen', index: '5' }), payment({ stage: 'orphaned', index: '5' })]
  const milestones = {
    depositedAt: null,
    webhookAt: null,
    apiAt: null,
    chainAt: null,
    finalAt: null,
    settledAt: null,
    reconciledAt: null,
  }
  const known = [
    { id: 1n, serviceId: 'dep_1' as ServiceId, transfer: null, milestones },
    { id: 2n, serviceId: null, transfer: transferRef(payment({ index: '5' })), milestones },
  ]
  const group = {
    observations: [webhook(), claim(), payment(), ...gone],
    approvals: [channelApproval],
    known,
    booked: [],
  }
  expect(decide(group, rules, late).deposits).toMatchObject([{ id: 1n, absorbed: [2n] }])
})
