import { expect, test } from 'vitest'
import { decide, type Rules } from '../../../src/core/decide.ts'
import type { Observation, ServiceId } from '../../../src/core/evidence.ts'
import { explainAll, policyLine } from '../../../src/core/explaining/explain.ts'
import type { Amount } from '../../../src/core/money.ts'
import {
  at,
  channelApproval,
  claim,
  delivery,
  failure,
  payment,
  policy,
  walletApproval,
  webhook,
} from '../../support/evidence.ts'

const rules: Rules = { policy, routes: [], senders: new Set() }

function reasonsOf(observations: readonly Observation[], minutes = 600) {
  const approvals = [channelApproval, walletApproval]
  const stored = observations.map((observation, place) => ({ inboxId: BigInt(place + 1), observation }))
  const { deposits } = decide({ observations, approvals, deposits: [], journals: [] }, rules, at(minutes))
  const [explained] = explainAll(deposits, stored, rules)
  return new Map(explained?.reasons.map((reason) => [reason.what, reason]))
}

test('each cell rests on the rows of its own source', () => {
  const reasons = reasonsOf([payment({ stage: 'seen' }), payment(), webhook(), claim(), delivery()])
  const rows = [...reasons].map(([what, { evidence }]) => `${what} ${evidence.join(' ')}`)
  expect(rows).toEqual([
    'state 1 2 3 4 5',
    'deposit.webhook 3',
    'deposit.api 4',
    'deposit.chain 1 2',
    'settlement.webhook 3',
    'settlement.api 4',
    'settlement.chain 5',
    'payment 1 2',
    'delivery 5',
  ])
})

type Reported = { name: string; observations: readonly Observation[]; what: string; says: string }

test.each<Reported>([
  { name: 'nothing', observations: [payment()], what: 'deposit.webhook', says: 'nothing was received' },
  { name: 'no transfer', observations: [claim()], what: 'deposit.chain', says: 'no transfer' },
  {
    name: 'another amount',
    observations: [payment(), claim({ deposit: { amount: 1n as Amount } })],
    what: 'deposit.api',
    says: 'differs: dep_1',
  },
  { name: 'a failure', observations: [failure(), claim()], what: 'mismatch tx_failed', says: 'leg deposit' },
])('$name is told', ({ observations, what, says }) => {
  expect(reasonsOf(observations).get(what)?.says).toContain(says)
})

test('a credit is on no chain, and so says its cell', () => {
  const owner = walletApproval.owner
  const paid = { address: walletApproval.address }
  const reasons = reasonsOf([payment({ to: walletApproval.address }), claim({ owner, deposit: paid })])
  expect(reasons.get('settlement.chain')?.rule).toBe('a credit to a StableWallet is on no chain')
})

test('what is awaited becomes a mismatch at its deadline, of the same line of the policy', () => {
  const observations = [payment(), webhook({ status: 'confirmed', serviceId: 'dep_1' as ServiceId })]
  const before = reasonsOf(observations, 11).get('awaited api_missing')
  const after = reasonsOf(observations, 13).get('mismatch api_missing')
  expect(before).toMatchObject({ policy: 'policy.apiWithin: 10m', until: at(12) })
  expect(after).toMatchObject({ policy: 'policy.apiWithin: 10m', until: at(12) })
  expect(reasonsOf(observations, 13).has('awaited api_missing')).toBe(false)
})

const units = { paid: 10n ** 6n, delivered: 10n ** 6n }

test.each([
  ['settlementWithinMs', {}, 'policy.settlementWithin: 1h'],
  ['settlementWithinMs', { settlementWithinMs: 90_000 }, 'policy.settlementWithin: 90s'],
  [
    'settlementWithinMs',
    { settlementWithinMs: 1500, line: 'policy.routes[2]' },
    'policy.routes[2].settlementWithin: 1500ms',
  ],
  ['minimum', {}, 'policy.minimum: none'],
  ['minimum', { minimum: 5n as Amount }, 'policy.minimum: 5 base units'],
  ['tolerance', {}, 'policy.tolerance: 0 base units, or 0 bps'],
  ['fee', {}, 'policy.fee: any fee that the service states'],
  ['fee', { fee: { kind: 'fixed', amount: 7n as Amount } }, 'policy.fee: 7 base units'],
  ['fee', { fee: { kind: 'bps', bps: 10, units } }, 'policy.fee: 10 bps of the payment'],
  [
    'fee',
    { fee: { kind: 'band', lowBps: 8, highBps: 12, sample: 40, units } },
    'policy.fee: 8 to 12 bps, learned from 40 deposits',
  ],
] as const)('the line of %s with %o', (field, changes, line) => {
  expect(policyLine({ ...policy, ...changes }, field)).toBe(line)
})

test.each([
  ['minimum', { minimum: 5n as Amount }, 'policy.minimum: 5 of base/0xb1'],
  ['tolerance', {}, 'policy.tolerance: 0 of base/0xb1, or 0 bps'],
  ['fee', { fee: { kind: 'fixed', amount: 7n as Amount } }, 'policy.fee: 7 of base/0xb1'],
] as const)('the line of %s names the asset of its amount', (field, changes, line) => {
  expect(policyLine({ ...policy, ...changes }, field, 'base/0xb1')).toBe(line)
})
