import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Address } from '../../src/core/asset.ts'
import {
  type Claim,
  decodeObservation,
  defaultService,
  encodeObservation,
  idAmongServices,
  idAtService,
  linkKeys,
  type ServiceName,
  serviceOf,
} from '../../src/core/evidence.ts'
import { completedStages, type Milestones } from '../../src/core/lag.ts'
import { components } from '../../src/core/matching/components.ts'
import { foldChainTransfers, foldClaims } from '../../src/core/matching/fold.ts'
import { mismatchKinds, type Severity } from '../../src/core/mismatch.ts'
import type { Amount } from '../../src/core/money.ts'
import { anyEvidence, runs } from '../support/any-evidence.ts'
import { decision } from '../support/decision.ts'
import {
  arbitrum,
  at,
  base,
  channelAddress,
  claim,
  delivery,
  payment,
  txId,
  walletAddress,
  webhook,
} from '../support/evidence.ts'
import { fruitless } from '../support/searched.ts'

test('what is observed of one deposit shares a key with its claim', () => {
  const keys = linkKeys(claim())
  expect(keys).toEqual(expect.arrayContaining([...linkKeys(payment()), ...linkKeys(delivery())]))
  expect(keys).toEqual(['service/dep_1', `in/${txId('pay')}/${channelAddress}`, `out/${txId('forward')}`])
  const ruled = decision('together', payment())
  expect(linkKeys(ruled)).toEqual([...linkKeys(payment()), 'service/dep_1'])
  expect(linkKeys({ ...ruled, verdict: { kind: 'write_off_withdrawn' } })).toEqual(linkKeys(payment()))
  expect(linkKeys(fruitless({ role: 'deposit', ...claim().deposit, from: at(3) }, {}))).toEqual([
    'service/dep_1',
  ])
})

test('ids of two services are never the same, and each names its service and its own id', () => {
  const names = fc.constantFrom(...(['default', 'acme', 'b2'] as ServiceName[]))
  const ids = fc.oneof(fc.constantFrom('1', 'acme/1', 'default/1', '/', 'a/b/c'), fc.string({ minLength: 1 }))
  const one = fc.tuple(names, ids)
  fc.assert(
    fc.property(one, one, ([service, id], [otherService, otherId]) => {
      const known = idAmongServices(service, id)
      expect([serviceOf(known), idAtService(known)]).toEqual([service, id])
      const isSame = service === otherService && id === otherId
      expect(known === idAmongServices(otherService, otherId)).toBe(isSame)
    }),
    runs,
  )
  expect(idAmongServices(defaultService, 'dep_1')).toBe('dep_1')
})

test('a claim that names no transaction is found by its id alone', () => {
  const early = claim({ deposit: { tx: null }, settlement: { tx: null } })
  expect(linkKeys(early)).toEqual(['service/dep_1'])
  expect(linkKeys({ ...early, settlement: null })).toEqual(['service/dep_1'])
})

test('what reached a recipient shares a key with the claim that names it as a refund', () => {
  const back = claim({ settlement: { tx: null }, refund: { tx: txId('back') } })
  expect(linkKeys(back)).toEqual(expect.arrayContaining(linkKeys(delivery({ tx: txId('back') }))))
})

test('two people who are paid in one transaction are two cases; two forwards in one are one', () => {
  expect(linkKeys(payment({ to: walletAddress }))).not.toEqual(linkKeys(payment()))
  expect(linkKeys(delivery({ to: walletAddress, index: '9' }))).toEqual(linkKeys(delivery()))
})

test('a payment and a delivery in one transaction are not linked by it', () => {
  const place = { network: base, tx: txId('pay'), to: walletAddress }
  expect(linkKeys(payment(place))).not.toEqual(linkKeys(delivery(place)))
})

const anyKeys = fc.array(
  fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), { minLength: 1, maxLength: 3 }),
  { maxLength: 12 },
)

test('items are in one component exactly if a chain of shared keys leads from one to the other', () => {
  fc.assert(
    fc.property(anyKeys, (items) => {
      const found = components([...items.keys()], (place) => items[place] ?? [])
      expect(found.flat().toSorted((x, y) => x - y)).toEqual([...items.keys()])
      for (const places of found) {
        expect(reached(places[0] ?? 0, items)).toEqual(new Set(places))
      }
    }),
    runs,
  )
})

/** The plain way: from one item to all that share a key, until nothing is added. */
function reached(from: number, items: readonly string[][]): Set<number> {
  const found = new Set([from])
  for (const place of found) {
    for (const [other, keys] of items.entries()) {
      if (keys.some((key) => items[place]?.includes(key))) found.add(other)
    }
  }
  return found
}

test('components come in the order of their first items', () => {
  const words = ['one', 'two', 'three', 'more']
  expect(components(words, (word) => [word.length, word.at(-1)])).toEqual([['one', 'two', 'three', 'more']])
  expect(components(words, (word) => [word.length])).toEqual([['one', 'two'], ['three'], ['more']])
  expect(components([], () => [])).toEqual([])
})

test('an observation survives being written and read', () => {
  fc.assert(
    fc.property(anyEvidence, (all) => {
      expect(all.map((one) => decodeObservation(encodeObservation(one)))).toEqual(all)
    }),
    runs,
  )
})

test('what was sent and what was written to a payment survive, and need not be there', () => {
  const reported = { ...payment(), memo: '17', sent: (2n ** 60n) as Amount }
  expect(decodeObservation(encodeObservation(reported))).toEqual(reported)
  expect(decodeObservation(encodeObservation(payment()))).toEqual(payment())
})

test('names and texts that look like numbers or times stay text', () => {
  const odd = claim({ owner: { kind: 'channel', id: '17' }, settlement: { address: '12' as Address } })
  expect(decodeObservation(encodeObservation(odd))).toEqual(odd)
})

test.each([
  ['a final reading outranks an early one', ['seen', 'final'], 'final'],
  ['a withdrawn early chain_transfer stays withdrawn', ['seen', 'orphaned', 'seen'], 'orphaned'],
  [
    'what was final is not withdrawn by an early chain_transfer that vanished',
    ['final', 'orphaned'],
    'final',
  ],
] as const)('%s', (_what, stages, state) => {
  const [leg] = foldChainTransfers(stages.map((stage) => payment({ stage })))
  expect(leg?.state).toBe(state)
})

test('a later history outranks an earlier one, whatever either says', () => {
  const states = (['seen', 'final', 'orphaned'] as const).map(
    (stage) => foldChainTransfers([payment({ epoch: 3, stage }), payment({ epoch: 2 })])[0]?.state,
  )
  expect(states).toEqual(['seen', 'final', 'orphaned'])
})

test('of two readings of one history the higher block counts', () => {
  const low = payment({ height: 10n, blockHash: '0xff' })
  const high = payment({ height: 11n, blockHash: '0x00' })
  for (const all of [
    [low, high],
    [high, low],
  ])
    expect(foldChainTransfers(all)[0]?.blockHash).toBe('0x00')
})

test.each<[string, Partial<Claim>, Partial<Claim>]>([
  [
    'the furthest status, even if it came to be earlier',
    { status: 'settled' },
    { occurredAt: at(9), status: 'held' },
  ],
  [
    'the later event, even if it was received earlier',
    { occurredAt: at(4), receivedAt: at(5) },
    { receivedAt: at(9) },
  ],
  ['of one event what was received later', { receivedAt: at(9) }, { receivedAt: at(8) }],
])('of the words of one source counts %s', (_what, better, worse) => {
  const [one, other] = [
    claim({ occurredAt: at(3), ...better } as never),
    claim({ occurredAt: at(3), ...worse } as never),
  ]
  for (const all of [
    [one, other],
    [other, one],
  ])
    expect(foldClaims(all)[0]?.api).toEqual(one)
})

test('each source has its own word, and the time of its first', () => {
  const [claimHistory, ...others] = foldClaims([
    webhook({ receivedAt: at(7) }),
    claim({ receivedAt: at(6) }),
    webhook({ receivedAt: at(4), status: 'observed' }),
  ])
  expect(others).toEqual([])
  expect(claimHistory).toMatchObject({ webhook: { status: 'settled' }, webhookAt: at(4), apiAt: at(6) })
  expect([...(claimHistory?.statuses.webhook ?? [])]).toEqual([
    ['observed', at(4)],
    ['settled', at(7)],
  ])
})

test('a leg was first seen when it was first read, and final when it was first read as final', () => {
  const [leg] = foldChainTransfers([
    payment({ receivedAt: at(9) }),
    payment({ receivedAt: at(7) }),
    payment({ stage: 'seen', receivedAt: at(3) }),
  ])
  expect(leg).toMatchObject({ seenAt: at(3), finalAt: at(7) })
})

const open: Milestones = {
  depositedAt: at(0),
  webhookAt: null,
  apiAt: null,
  chainAt: at(1),
  finalAt: null,
  settledAt: null,
  reconciledAt: null,
}

function completed(before: Milestones | null, after: Milestones): string[] {
  return completedStages(before, after, base).map(({ stage, seconds }) => `${stage} ${seconds}`)
}

test('each stage is measured once, when both of its ends are known', () => {
  expect(completed(null, open)).toEqual(['chain_detection 60'])
  expect(completed(open, open)).toEqual([])
  const later = { ...open, apiAt: at(2), finalAt: at(3), settledAt: at(5), reconciledAt: at(6) }
  expect(completed(open, later)).toEqual([
    'api_detection 120',
    'finality 180',
    'settlement 120',
    'reconciliation 360',
  ])
  expect(completed(null, { ...open, depositedAt: null, finalAt: at(3) })).toEqual([])
})

test('a stage that seems to end before it began takes no time', () => {
  expect(completedStages(null, { ...open, chainAt: at(-1) }, base)).toEqual([
    { stage: 'chain_detection', network: base, seconds: 0 },
  ])
})

test('every kind of mismatch has a severity, a responsible party, an ending, a meaning and a next step', () => {
  for (const [kind, entry] of Object.entries(mismatchKinds)) {
    expect(kind).toMatch(/^[a-z_]+$/)
    expect(entry).toEqual({
      severity: expect.stringMatching(/^(info|warning|severe)$/),
      family: expect.stringMatching(/^(presence|value|identity|state|chain|coverage|policy|system)$/),
      responsible: expect.stringMatching(/^(webhook|api|service|payer|chain|settings|books|unknown)$/),
      endsBy: expect.stringMatching(/^(evidence|replay|person)$/),
      mayBeLate: expect.any(Boolean),
      actWithinHours: expect.any(Number),
      loss: expect.stringMatching(/^(measured|none|unmeasured)$/),
      lossMeans: expect.stringMatching(/^[A-Z].{10,}\.$/),
      means: expect.stringMatching(/^[A-Z].{20,}\.$/),
      next: expect.stringMatching(/^[A-Z].{15,}\.$/),
    })
  }
})

test('more severe kinds of mismatch have shorter times to act', () => {
  expect(Math.min(...hoursOf('severe'))).toBeGreaterThan(0)
  expect(Math.max(...hoursOf('severe'))).toBeLessThanOrEqual(Math.min(...hoursOf('warning')))
  expect(Math.max(...hoursOf('warning'))).toBeLessThanOrEqual(Math.min(...hoursOf('info')))
})

function hoursOf(severity: Severity): number[] {
  return Object.values(mismatchKinds).flatMap((one) =>
    one.severity === severity ? [one.actWithinHours] : [],
  )
}

test('one transaction is linked with itself on whatever network it is said to be', () => {
  const elsewhere = claim({ deposit: { network: arbitrum }, settlement: { network: base } })
  expect(linkKeys(elsewhere)).toEqual(linkKeys(claim()))
})
