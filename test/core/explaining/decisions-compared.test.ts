import { expect, test } from 'vitest'
import { type DecidedDeposit, type DepositIdentity, decide, rulesOf } from '../../../src/core/decide.ts'
import {
  type Observation,
  type ServiceId,
  type TransferRef,
  transferRef,
} from '../../../src/core/evidence.ts'
import { compareDecisions } from '../../../src/core/explaining/compare-decisions.ts'
import { type DatedEvidence, decideAsOf, isSameDeposit } from '../../../src/core/explaining/decide-as-of.ts'
import type { Amount } from '../../../src/core/money.ts'
import type { Policy } from '../../../src/core/policy.ts'
import { groupOf } from '../../support/any-evidence.ts'
import { rules } from '../../support/decision-cases.ts'
import {
  at,
  channelApproval,
  claim,
  delivery,
  liquidity,
  noTimes,
  payment,
  txId,
  withdrawal,
} from '../../support/evidence.ts'

const decided = (observations: readonly Observation[], by: Partial<Policy> = {}) =>
  decide(groupOf(observations), { ...rules, policy: { ...rules.policy, ...by } }, at(600))

const only = (...observations: Observation[]) => decided(observations).deposits[0] as DecidedDeposit

const second = claim({
  serviceId: 'dep_2' as ServiceId,
  deposit: { tx: txId('pay2') },
  settlement: { tx: null },
})
const sent = delivery({ tx: txId('forward2') })

test('two decisions differ in states, kinds of mismatches and journals, of deposits and of deliveries', () => {
  const all = [payment(), second, sent, payment({ tx: txId('other') })]
  const later = decided(all)
  expect(compareDecisions(later, later)).toEqual([])
  const earlier = decided(all, { reportWithinMs: 24 * 3_600_000, webhookWithinMs: 24 * 3_600_000 })
  const changes = compareDecisions(earlier, later)
  const nothing = { state: null, mismatches: [], journals: [] }
  const change = {
    id: null,
    serviceId: null,
    withdrawal: null,
    transfer: null,
    before: nothing,
    after: nothing,
  }
  const { ref } =
    later.deposits.find(({ evidence }) => evidence.deposit?.tx === txId('pay'))?.evidence.deposit ?? {}
  const unreported = changes.find(({ transfer }) => transfer === ref)
  const confirmed = { state: 'confirmed', mismatches: [], journals: [] }
  const [journal] = decided([payment()]).deposits[0]?.journals ?? []
  expect(unreported).toEqual({
    ...change,
    transfer: ref,
    before: confirmed,
    after: { ...confirmed, mismatches: ['unreported'], journals: [journal] },
  })
  const rest = changes.filter((one) => one !== unreported)
  expect(
    rest.map(({ transfer, serviceId, after }) => [transfer, serviceId, after.state, after.mismatches]),
  ).toEqual([
    [null, 'dep_2', 'observed', ['webhook_missing']],
    [transferRef(payment({ tx: txId('other') })), null, 'confirmed', ['unreported']],
    [transferRef(sent), null, null, ['settlement_unreported']],
  ])
  expect(rest.at(-1)?.before).toEqual(nothing)
  const gone = compareDecisions(later, decided([]))
  expect(gone.map(({ after }) => after)).toEqual(later.deposits.map(() => nothing).concat(nothing))
})

test('withdrawals are compared, too, with their journals', () => {
  const tx = txId('pay out')
  const leg = delivery({ tx, amount: 40_000_000n as Amount, from: liquidity })
  const all = [withdrawal({ tx }), withdrawal({ tx: txId('lost'), withdrawalId: 'w-2' })]
  const before = decided(all, { settlementWithinMs: 24 * 3_600_000 })
  const after = decided([...all, leg])
  const about = { id: null, serviceId: null }
  const nothing = { mismatches: [], journals: [] }
  expect(compareDecisions(before, after)).toEqual([
    {
      ...about,
      withdrawal: 'savings w-1',
      transfer: transferRef(leg),
      before: { state: 'sent', ...nothing },
      after: { state: 'paid', mismatches: [], journals: after.withdrawalJournals },
    },
    {
      ...about,
      withdrawal: 'savings w-2',
      transfer: null,
      before: { state: 'sent', ...nothing },
      after: { state: 'unproved', mismatches: ['withdrawal_unproved'], journals: [] },
    },
  ])
  const group = groupOf([], after.withdrawalJournals)
  const reversed = decide(group, rules, at(600))
  expect(compareDecisions(decided([]), reversed)).toMatchObject([
    {
      withdrawal: null,
      transfer: transferRef(leg),
      after: { state: null, journals: [{ kind: 'reversal' }] },
    },
  ])
})

const identity = (id: bigint, changes: Partial<DepositIdentity>): DepositIdentity => ({
  id,
  serviceId: null,
  transfer: null,
  milestones: noTimes,
  ...changes,
})
const booked = decided([payment(), claim()]).deposits.flatMap(({ journals }) => journals)
const elsewhere = `${transferRef(payment()).slice(0, -1)}9` as TransferRef
const dated: DatedEvidence = {
  observations: [payment(), claim(), delivery()].map((observation, place) => ({
    inboxId: BigInt(place),
    observation,
    knownAt: observation.receivedAt,
  })),
  approvals: [{ approval: channelApproval, knownAt: at(3) }],
  deposits: [
    { deposit: identity(5n, { transfer: elsewhere }), knownAt: at(1) },
    { deposit: identity(7n, { transfer: transferRef(payment()) }), knownAt: at(3) },
    { deposit: identity(8n, { serviceId: 'dep_1' as ServiceId }), knownAt: at(6) },
  ],
  journals: [
    ...booked.map((journal) => ({ journal: { ...journal, transfer: elsewhere }, knownAt: at(1) })),
    ...booked.map((journal) => ({ journal, knownAt: at(30) })),
  ],
}

test.each([
  [1, []],
  [2, ['null of null without an owner: confirmed, ']],
  [3, ['7 of null by shop: confirmed, ']],
  [4, ['7 of null by shop: confirmed, ']],
  [5, ['7 of dep_1 by shop: reconciled, deposit settlement conversion']],
  [6, ['7 8 of dep_1 by shop: reconciled, deposit settlement conversion']],
  [30, ['7 8 of dep_1 by shop: reconciled, settlement conversion']],
])('what was known at minute %d is decided with nothing that came later', (minute, wanted) => {
  const found = decideAsOf(dated, rules, at(minute)).map(({ id, absorbed, evidence, verdict, journals }) => {
    const owner = evidence.approval === null ? 'without an owner' : `by ${evidence.approval.owner.id}`
    const ids = [id, ...absorbed].map(String).join(' ')
    return `${ids} of ${evidence.serviceId} ${owner}: ${verdict.state}, ${journals.map(({ kind }) => kind).join(' ')}`
  })
  expect(found).toEqual(wanted)
})

test('of what was decided about the end of an address, the last that was known applies', () => {
  const ends = [
    { knownAt: at(7), endsAt: at(0) },
    { knownAt: at(8), endsAt: null },
  ].map(({ knownAt, endsAt }) => ({ approval: { ...channelApproval, endsAt }, knownAt }))
  const states = [6, 7, 8].map((minute) => {
    const group = { ...dated, approvals: [...dated.approvals, ...ends] }
    return decideAsOf(group, rules, at(minute)).map(({ verdict }) => verdict.state)
  })
  expect(states).toEqual([['reconciled'], ['settled'], ['reconciled']])
})

test('a deposit becomes the one with its service id, or the one with its payment while it has none', () => {
  const now = only(payment(), claim())
  const [paid, claimed] = [only(payment()), only(claim())]
  expect([paid, claimed, now].map((earlier) => isSameDeposit(earlier, now))).toEqual([true, true, true])
  const others = [only(payment({ tx: txId('pay2') })), only(second)]
  expect(others.map((earlier) => isSameDeposit(earlier, now))).toEqual([false, false])
  for (const earlier of [now, claimed, ...others]) expect(isSameDeposit(earlier, paid)).toBe(false)
  expect(isSameDeposit(paid, claimed)).toBe(false)
})

test('rules are kept without what is not a rule', () => {
  const contras = [{ pattern: {}, account: 'income:deposits' }]
  expect(rulesOf(Object.assign({ loadedAt: at(1) }, rules))).toEqual({ ...rules, contras: [] })
  expect(rulesOf({ ...rules, contras })).toEqual({ ...rules, contras })
})
