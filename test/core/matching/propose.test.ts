import { assert, constantFrom, infiniteStream, nat, property, record, uniqueArray } from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ServiceId } from '../../../src/core/evidence.ts'
import {
  type CandidatePair,
  deliveryRules,
  type OpenDeposit,
  paymentRules,
  propose,
  type UnnamedTransfer,
} from '../../../src/core/matching/propose.ts'
import type { Amount } from '../../../src/core/money.ts'
import type { Policy } from '../../../src/core/policy.ts'
import {
  arbitrum,
  at,
  channelAddress,
  liquidity,
  policy,
  recipient,
  txId,
  usdcOnArbitrum,
  usdcOnBase,
  usdtOnBase,
} from '../../support/evidence.ts'

import { amount, delivery, payment, undelivered, unpaid } from '../../support/unnamed.ts'

const rules = { policy, routes: [], senders: new Set([`${arbitrum}/${liquidity}`]) }

const pair = (transfer: Partial<UnnamedTransfer>, deposit: Partial<OpenDeposit> = {}): CandidatePair =>
  transfer.role === 'recipient'
    ? { transfer: { ...delivery, ...transfer }, deposit: { ...undelivered, ...deposit } }
    : { transfer: { ...payment, ...transfer }, deposit: { ...unpaid, ...deposit } }
const role = 'recipient'

const only = (one: CandidatePair, changes: Partial<Policy> = {}) => {
  const { proposals, ambiguities } = propose([one], { ...rules, policy: { ...policy, ...changes } })
  expect(ambiguities).toEqual([])
  return proposals[0] ?? null
}
const missed = (one: CandidatePair, changes: Partial<Policy> = {}) =>
  only(one, changes)?.reasons.flatMap(({ rule, fulfilled }) => (fulfilled ? [] : [rule])) ?? null

const said = (one: CandidatePair, changes: Partial<Policy> = {}) =>
  only(one, changes)?.reasons.map(({ rule, compares }) => `${rule}: ${compares}`)

test('the weights of each list add up to a hundred', () => {
  for (const list of [paymentRules, deliveryRules])
    expect(list.reduce((sum, { weight }) => sum + weight, 0)).toBe(100)
})

describe('what fits', () => {
  test.each([
    ['payment', pair({})],
    ['delivery', pair({ role })],
  ])('in all is proposed as a %s with a full score', (_name, one) => {
    expect(only(one)).toMatchObject({ score: 100, policy: 'policy', isAgreed: false })
    expect(missed(one)).toEqual([])
  })

  test('may be delivered as early as clocks differ, until the deadline since its payment was final', () => {
    for (const minute of [-5, 62]) expect(missed(pair({ role, at: at(minute) }))).toEqual([])
  })

  test.each<[string, CandidatePair, string]>([
    ['a payment long before the word of it', pair({ at: at(-60) }), 'time'],
    ['a payment after the word of it', pair({ at: at(9) }), 'time'],
    ['a payment beside the transaction that is named', pair({}, { tx: txId('other') }), 'transaction'],
    ['a delivery that is late', pair({ role, at: at(63) }), 'time'],
    ['a delivery by a stranger', pair({ role, from: channelAddress }), 'sender'],
    ['a delivery of which the chain names no sender', pair({ role, from: null }), 'sender'],
    ['a delivery beside the transaction that is named', pair({ role }, { tx: txId('x') }), 'transaction'],
  ])('but for one thing is proposed, and never agreed to: %s', (_name, one, rule) => {
    expect(missed(one)).toEqual([rule])
    expect(only(one, { acceptsUnnamed: true })).toMatchObject({ isAgreed: false })
    expect(only(one)?.score).toBeLessThan(100)
  })

  test.each<[string, CandidatePair]>([
    ['another address', pair({ to: recipient })],
    ['another network', pair({ network: arbitrum })],
    ['another asset', pair({ asset: usdtOnBase })],
    ['another amount', pair({ amount: amount(100_000_001) })],
    ['a delivery to another recipient', pair({ role, to: channelAddress })],
    ['a delivery of another asset', pair({ role, asset: usdtOnBase })],
    ['a delivery of one unit less', pair({ role, amount: amount(99_899_999) })],
    ['a delivery before the payment', pair({ role, at: at(-6) })],
    ['a delivery of which nothing is stated', pair({ role }, { amount: null })],
    ['a delivery of an asset that nothing states', pair({ role }, { asset: null })],
  ])('is not proposed with %s', (_name, one) => {
    expect(only(one)).toBeNull()
  })
})

const off = (units: number, deposit: Partial<OpenDeposit> = {}) =>
  pair({ role, amount: amount(99_900_000 + units) }, deposit)

describe('the amount of a delivery', () => {
  test.each<[string, Partial<Policy>, number]>([
    ['amount', { tolerance: { amount: amount(10), bps: 0 } }, 10],
    ['share', { tolerance: { amount: amount(10), bps: 1 } }, 9990],
  ])('may be off by the %s that the policy tolerates, either way', (_name, tolerance, most) => {
    for (const way of [1, -1]) {
      expect(only(off(way * most), tolerance)).not.toBeNull()
      expect(only(off(way * (most + 1)), tolerance)).toBeNull()
    }
  })

  const units = { paid: 1n, delivered: 1n }

  // A share is seldom whole: one unit more or less is none.
  test.each<[string, Policy['fee'], number]>([
    ['bps', { kind: 'bps', bps: 10, units }, 0],
    ['band', { kind: 'band', lowBps: 8, highBps: 12, sample: 40, units }, 20_000],
  ])('is what the fee leaves, where nothing is stated: %s', (_name, fee, most) => {
    const silent = { amount: null }
    for (const some of [-most, most]) expect(only(off(some, silent), { fee })).not.toBeNull()
    for (const some of [-most - 2, most + 2]) expect(only(off(some, silent), { fee })).toBeNull()
  })

  test('of another coin is scaled to its decimals', () => {
    const fee = { kind: 'bps', bps: 10, units: { paid: 10n ** 6n, delivered: 10n ** 18n } } as const
    const one = pair({ role, amount: amount(99_900_000) }, { amount: null })
    expect(only(one, { fee })).toBeNull()
    const wide = { ...one, transfer: { ...one.transfer, amount: (99_900_000n * 10n ** 12n) as Amount } }
    expect(only(wide, { fee })).not.toBeNull()
  })

  test('is not guessed from a fixed fee, since that has no unit of the payment', () => {
    expect(only(off(0, { amount: null }), { fee: { kind: 'fixed', amount: amount(100_000) } })).toBeNull()
  })
})

test('each rule says what it compares', () => {
  expect(said(pair({}, { tx: txId('x') }))).toEqual([
    `address: base/${channelAddress}`,
    `asset: ${usdcOnBase}`,
    'amount: 100000000',
    'time: 2026-01-01T00:00:00.000Z, 2025-12-31T23:13:00.000Z to 2026-01-01T00:08:00.000Z',
    `transaction: the service names ${txId('x')}`,
  ])
  expect(said(pair({ role, from: null }))).toEqual([
    `recipient: arbitrum/${recipient}`,
    `asset: ${usdcOnArbitrum}`,
    'amount: 99900000, 99900000 stated',
    'order: paid 2026-01-01T00:00:00.000Z, delivered 2026-01-01T00:05:00.000Z',
    'sender: the chain names none',
    'time: 2026-01-01T00:05:00.000Z, 2025-12-31T23:55:00.000Z to 2026-01-01T01:02:00.000Z',
    'transaction: the service names none',
  ])
  const fee = { kind: 'bps', bps: 10, units: { paid: 1n, delivered: 1n } } as const
  const byFee = said(pair({ role }, { amount: null }), { fee })
  expect(byFee).toContain('amount: 99900000 of 100000000 paid, by the fee')
  expect(byFee).toContain(`sender: ${liquidity}`)
})

test('the policy of the route decides whether what fits in all is agreed to, and its line is kept', () => {
  const shop = { ...policy, line: 'policy.routes[0]', acceptsUnnamed: true }
  const routes = [
    { pattern: { ownerId: 'shop', assetIn: usdcOnBase, networkOut: arbitrum }, policy: shop },
    { pattern: { assetOut: usdcOnBase }, policy: { ...policy, line: 'policy.routes[1]' } },
  ]
  const judged = (one: CandidatePair) => propose([one], { ...rules, routes }).proposals[0]
  expect(judged(pair({ role }))).toMatchObject({ isAgreed: true, policy: 'policy.routes[0]' })
  expect(judged(pair({}))).toMatchObject({ isAgreed: false, policy: 'policy' })
  expect(judged(pair({ role }, { owner: { kind: 'channel', id: 'other' } }))).toMatchObject({
    isAgreed: false,
    policy: 'policy',
  })
})

describe('where several fit', () => {
  const two = 'dep_2' as ServiceId
  const again = txId('again')

  test('one transfer and two deposits are ambiguous', () => {
    const { proposals, ambiguities } = propose([pair({}), pair({}, { serviceId: two })], rules)
    expect(proposals).toEqual([])
    expect(ambiguities).toMatchObject([{ deposits: ['dep_1', 'dep_2'] }])
  })

  test('two transfers and one deposit are ambiguous, both of them', () => {
    const { proposals, ambiguities } = propose([pair({}), pair({ tx: again })], rules)
    expect(proposals).toEqual([])
    expect(ambiguities).toHaveLength(2)
    const refs = [`base/${again}/0`, `base/${txId('pay')}/0`].toSorted()
    for (const one of ambiguities) expect(one).toMatchObject({ deposits: ['dep_1'], transfers: refs })
  })

  test('one that fits better is no reason to prefer it', () => {
    const pairs = [pair({}), pair({}, { serviceId: two, tx: again })]
    expect(propose(pairs, rules)).toMatchObject({ proposals: [], ambiguities: [{}] })
  })

  test('what does not fit does not count', () => {
    const pairs = [pair({}), pair({}, { serviceId: two, amount: amount(5) })]
    expect(propose(pairs, rules)).toMatchObject({ proposals: [{ score: 100 }], ambiguities: [] })
  })

  test('a transfer to an address that is watched as both may be a payment and a delivery', () => {
    const both = { to: recipient, network: arbitrum, asset: usdcOnArbitrum, amount: amount(7) }
    const pairs = [
      pair(both, { ...both, address: recipient }),
      pair({ ...both, role, tx: payment.tx, at: at(1) }, { serviceId: two, amount: amount(7) }),
    ]
    expect(propose(pairs, rules).proposals).toHaveLength(2)
  })

  test('the same pairs in any order give the same answer', () => {
    const some = record({ tx: constantFrom('a', 'b', 'c'), id: constantFrom('1', '2', '3') })
    assert(
      property(
        uniqueArray(some, { selector: ({ tx, id }) => tx + id, maxLength: 9 }),
        infiniteStream(nat()),
        (places, keys) => {
          const pairs = places.map(({ tx, id }) => pair({ tx: txId(tx) }, { serviceId: id as ServiceId }))
          const shuffled = pairs
            .map((one) => ({ one, key: keys.next().value ?? 0 }))
            .toSorted((left, right) => left.key - right.key)
          const [answer, other] = [
            propose(pairs, rules),
            propose(
              shuffled.map(({ one }) => one),
              rules,
            ),
          ]
          expect(other).toEqual(answer)
          const used = answer.proposals.flatMap(({ transfer, deposit }) => [transfer.tx, deposit.serviceId])
          expect(new Set(used).size).toBe(used.length)
        },
      ),
    )
  })
})
