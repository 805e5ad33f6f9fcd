import { expect, test } from 'vitest'
import type { Address } from '../../../src/core/asset.ts'
import { decide } from '../../../src/core/decide.ts'
import {
  type LegSearch,
  type Observation,
  type ServiceId,
  stableWalletNetwork,
} from '../../../src/core/evidence.ts'
import { groupOf } from '../../support/any-evidence.ts'
import {
  arbitrum,
  at,
  claim,
  credit,
  elsewhere,
  payment,
  policy,
  recipient,
  txId,
  webhook,
} from '../../support/evidence.ts'
import { fruitless } from '../../support/searched.ts'

/** The claim is of minute 3 and received at 4; the payment is missed from minute 34 on. */
const due = 34
const claimed = [claim({ occurredAt: at(3), receivedAt: at(4) })]
const unnamed = [claim({ occurredAt: at(3), receivedAt: at(4), deposit: { tx: null } })]

const range = (from: number, to: number) => ({
  from: { height: 10n, blockAt: at(from) },
  to: { height: 90n, blockAt: at(to) },
})

function search(changes: Partial<LegSearch>): LegSearch {
  const sought = { role: 'deposit', ...claim().deposit, from: at(3) } as const
  return fruitless(sought, { read: null, bookedAt: null, receivedAt: at(40), ...changes })
}

/** The kinds that are open, and the texts of the proof or of the reason. */
function judged(observations: readonly Observation[], minute = 45): string[] {
  const { deposits } = decide(groupOf(observations), { policy, routes: [], senders: new Set() }, at(minute))
  return deposits.flatMap(({ verdict }) =>
    verdict.mismatches
      .filter(({ kind }) => ['chain_missing', 'settlement_missing', 'not_covered'].includes(kind))
      .map(({ kind, detail }) => `${kind}: ${detail.proof ?? detail.reason}`),
  )
}

const byRange = expect.stringMatching(/^chain_missing: final blocks 10 to 90 of base were read/)
const byNodes = expect.stringMatching(/^chain_missing: 2 nodes of base .* \(one, two\)/)
const notCovered = expect.stringMatching(/^not_covered: /)

test.each<[string, readonly Observation[], unknown[]]>([
  ['nobody has searched yet', claimed, []],
  ['its time was read and it is not there', [...claimed, search({ read: range(2, 35) })], [byRange]],
  [
    'two nodes do not know it',
    [...claimed, search({ nodes: ['one', 'two'], receivedAt: at(due) })],
    [byNodes],
  ],
  ['one node does not know it', [...claimed, search({ nodes: ['one'] })], [notCovered]],
  [
    'two nodes did not know it while it might still come',
    [...claimed, search({ nodes: ['one', 'two'], receivedAt: at(due - 1) })],
    [notCovered],
  ],
  ['reading began after its time', [...claimed, search({ read: range(5, 35) })], [notCovered]],
  ['reading has not come to its time', [...claimed, search({ read: range(-9, -8) })], []],
  [
    'the transaction is there, at an address that is not read',
    [...claimed, search({ found: { height: 12n } })],
    [notCovered],
  ],
  [
    'it names no transaction, and may have been paid before reading began',
    [...unnamed, search({ tx: null, read: range(2, 35) })],
    [notCovered],
  ],
  [
    'it names no transaction, and its address was read since it was made',
    [...unnamed, search({ tx: null, read: range(3, 35), bookedAt: at(3) })],
    [byRange],
  ],
  [
    'its address was made after its time',
    [...claimed, search({ read: range(4, 35), bookedAt: at(4) })],
    [notCovered],
  ],
  [
    'searches before and after one that proved it say less',
    [
      ...claimed,
      search({ receivedAt: at(39) }),
      search({ read: range(2, 35) }),
      search({ receivedAt: at(44) }),
    ],
    [byRange],
  ],
  [
    'a search of another transaction says nothing',
    [...claimed, search({ tx: txId('another'), read: range(2, 35) })],
    [],
  ],
  [
    'a search of a delivery says nothing',
    [...claimed, search({ role: 'recipient', read: range(2, 35) })],
    [],
  ],
  [
    'a search at another address says nothing',
    [...claimed, search({ to: recipient, read: range(2, 35) })],
    [],
  ],
])('a claimed payment that no chain has shown: %s', (_case, observations, wanted) => {
  expect(judged(observations)).toEqual(wanted)
  expect(judged(observations.toReversed()), 'in any order').toEqual(wanted)
})

test('what nobody could search for is not covered after a day', () => {
  expect(judged(claimed, due + 24 * 60 - 1)).toEqual([])
  expect(judged(claimed, due + 24 * 60)).toEqual([notCovered])
})

test('a payment that webhook and API place on two networks is missing only if it is on neither', () => {
  const both = [...claimed, webhook({ receivedAt: at(4), deposit: { network: arbitrum } })]
  const onBase = search({ read: range(2, 35) })
  expect(judged([...both, onBase])).toEqual([])
  const unread = search({ network: arbitrum, isUnread: true })
  expect(judged([...both, onBase, unread])).toEqual([
    'not_covered: arbitrum has no RPC URL: set one to read it',
  ])
  const onArbitrum = search({ network: arbitrum, read: range(2, 35) })
  expect(judged([...both, onBase, onArbitrum])).toEqual([
    expect.stringMatching(
      /^chain_missing: final blocks 10 to 90 of base .*; final blocks 10 to 90 of arbitrum/,
    ),
  ])
})

test('a delivery is missing only if the recipient was read since the payment', () => {
  const confirmed = { status: 'confirmed', settlement: { tx: null, amount: null, fee: null } } as const
  const paid = [webhook(confirmed), claim(confirmed), payment()]
  const delivery = {
    role: 'recipient',
    network: arbitrum,
    address: recipient,
    tx: null,
    from: at(0),
  } as const
  const found = (read: LegSearch['read']) =>
    fruitless(delivery, { serviceId: 'dep_1' as ServiceId, read, receivedAt: at(70), bookedAt: null })
  expect(judged([...paid, found(range(0, 65))], 75)).toEqual([
    expect.stringMatching(/^settlement_missing: final blocks 10 to 90 of arbitrum/),
  ])
  expect(judged([...paid, found(range(1, 65))], 75)).toEqual([notCovered])
  expect(judged([...paid, found(null)], 75)).toEqual([notCovered])
})

/** With a history of the service from this minute on. */
function decideFrom(minute: number, ...more: Observation[]) {
  const from = { ...policy, historySinceMs: at(minute).getTime() }
  const rules = { policy: from, routes: [], senders: new Set<string>() }
  const [deposit] = decide(groupOf([...claimed, ...more]), rules, at(45)).deposits
  const { mismatches = [], searches = [] } = deposit?.verdict ?? {}
  return {
    kinds: mismatches.map(({ kind }) => kind).filter((kind) => kind !== 'webhook_missing'),
    asked: searches.length + (deposit?.unseen.length ?? 0) > 0,
  }
}

test('of a deposit from before the history of the service, nothing is asked of the chain', () => {
  expect(decideFrom(3)).toEqual({ kinds: [], asked: true })
  expect(decideFrom(4)).toEqual({ kinds: ['not_covered'], asked: false })
  // Something is stated of it since then, or a chain shows it.
  expect(decideFrom(4, claim({ status: 'held', occurredAt: at(5), receivedAt: at(6) })).asked).toBe(true)
  expect(decideFrom(4, payment()).kinds).not.toContain('not_covered')
})

test('a credit stated for an address that is not in the address book is looked for on no chain', () => {
  const stated = { network: stableWalletNetwork, address: 'other' as Address, asset: credit, tx: null }
  const paid = { to: elsewhere, tx: txId('pay') }
  const seen = [
    claim({ status: 'settling', deposit: { address: elsewhere }, settlement: stated }),
    payment(paid),
  ]
  const { deposits } = decide(groupOf(seen), { policy, routes: [], senders: new Set() }, at(6000))
  expect(deposits.flatMap(({ verdict }) => verdict.searches.map(({ network }) => network))).toEqual([])
  expect(judged(seen, 6000)).toEqual(['settlement_missing: undefined'])
})
