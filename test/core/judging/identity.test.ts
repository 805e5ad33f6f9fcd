import { expect, test } from 'vitest'
import type { Address, NetworkName } from '../../../src/core/asset.ts'
import type { Observation, ServiceId } from '../../../src/core/evidence.ts'
import type { Amount } from '../../../src/core/money.ts'
import { decision } from '../../support/decision.ts'
import {
  arbitrum,
  at,
  base,
  claim,
  delivery,
  payment,
  usdcOnArbitrum,
  usdcOnBase,
  webhook,
} from '../../support/evidence.ts'
import { decided, outcome } from '../../support/outcome.ts'

const second = 'dep_2' as ServiceId
const early = { receivedAt: at(1) }
const unsent = { status: 'confirmed', settlement: { tx: null, amount: null } } as const

/** Each deposit by its id, with the kinds of its mismatches that are about which transfer is whose. */
function identity(observations: readonly Observation[]): string[] {
  return decided([...observations]).deposits.map(({ evidence, verdict }) => {
    const kinds = verdict.mismatches.filter(({ kind }) =>
      [
        'tx_reused',
        'network_mismatch',
        'chain_missing',
        'asset_mismatch',
        'unreported',
        'recipient_mismatch',
        'unknown_address',
        'service_mismatch',
      ].includes(kind),
    )
    return [evidence.serviceId, ...kinds.map(({ kind }) => kind)].join(' ')
  })
}

const nobodys = (network: NetworkName) => ({
  owner: null,
  deposit: { network, address: `0x${'9'.repeat(40)}` as Address },
})

const atAcme = 'acme/dep_1' as ServiceId
const twice = [webhook(unsent), webhook({ ...unsent, serviceId: second })]

test.each<[string, Observation[], string[]]>([
  ['one transfer claimed for two deposits', [...twice, payment()], ['dep_1', 'dep_2 tx_reused']],
  [
    'of two services, the one whose owner has the address has it',
    [webhook({ ...unsent, ...early, serviceId: atAcme }), webhook(unsent), payment()],
    ['acme/dep_1 service_mismatch', 'dep_1'],
  ],
  [
    'a service takes no payment to an owner of another',
    [webhook({ ...unsent, serviceId: atAcme }), payment()],
    ['acme/dep_1 service_mismatch', ' unreported'],
  ],
  [
    'the one that was told of first has it',
    [webhook(unsent), webhook({ ...unsent, ...early, serviceId: second }), payment()],
    ['dep_1 tx_reused', 'dep_2'],
  ],
  [
    'the one that named it first has it, though the other one was told of before',
    [
      webhook({
        status: 'observed',
        deposit: { tx: null },
        settlement: { tx: null, amount: null },
        ...early,
      }),
      webhook({ ...unsent, serviceId: second }),
      claim({ ...unsent, receivedAt: at(9) }),
      payment(),
    ],
    ['dep_1 tx_reused', 'dep_2'],
  ],
  [
    'an index that is taken, beside another transfer of the transaction',
    [...twice, payment(), payment({ index: '1' })],
    ['dep_1', 'dep_2 tx_reused', ' unreported'],
  ],
  [
    'a transaction without an index, all of whose transfers are taken',
    [...twice, payment({ index: '4' })].map((one) =>
      one.kind === 'claim' ? { ...one, deposit: { ...one.deposit, index: null } } : one,
    ),
    ['dep_1', 'dep_2 tx_reused'],
  ],
  [
    'a transaction of two transfers, claimed for two deposits',
    [...twice, payment({ index: '4' }), payment({ index: '5' })],
    ['dep_1', 'dep_2'],
  ],
  ['a claim of what nobody else has', [webhook(unsent)], ['dep_1 chain_missing']],
  [
    'a person says that it is the other’s',
    [...twice, payment(), decision('together', payment(), { serviceId: second })],
    ['dep_1 tx_reused', 'dep_2'],
  ],
  [
    'a person says that it is not the second’s',
    [...twice, payment(), decision('apart', payment(), { serviceId: second })],
    ['dep_1', 'dep_2 chain_missing'],
  ],
  [
    'a payment that is on another network than stated',
    [webhook({ deposit: { network: arbitrum, asset: usdcOnArbitrum }, ...unsent }), payment()],
    ['dep_1 network_mismatch'],
  ],
  [
    'a payment that only the webhook places on another network',
    [webhook({ deposit: { network: arbitrum, asset: usdcOnArbitrum } }), claim(), payment(), delivery()],
    ['dep_1 network_mismatch'],
  ],
  [
    'a payment that the service places on two networks, and no chain shows yet',
    [webhook(unsent), claim({ ...unsent, deposit: { network: arbitrum, asset: usdcOnArbitrum } })],
    ['dep_1 network_mismatch chain_missing'],
  ],
  [
    'a payment to an address that is nobody’s on either of the two networks',
    [webhook({ ...unsent, ...nobodys(base) }), claim({ ...unsent, ...nobodys(arbitrum) })],
    ['dep_1 network_mismatch unknown_address chain_missing'],
  ],
  [
    'a payment that the service places at two addresses, one of which is nobody’s',
    [webhook({ ...unsent, owner: null }), claim({ ...unsent, ...nobodys(base) })],
    ['dep_1 unknown_address chain_missing'],
  ],
  [
    'a delivery that the service places on two networks, and no chain shows yet',
    [webhook(), claim({ settlement: { network: base, asset: usdcOnBase } }), payment()],
    ['dep_1 network_mismatch recipient_mismatch'],
  ],
  [
    'a delivery that is on another network than stated',
    [
      webhook({ settlement: { network: base, asset: usdcOnBase } }),
      claim({ settlement: { network: base, asset: usdcOnBase } }),
      payment(),
      delivery(),
    ],
    ['dep_1 network_mismatch'],
  ],
  [
    'a delivery that is on the approved network, and elsewhere as stated',
    [claim({ settlement: { network: base } }), payment(), delivery({ network: base })],
    ['dep_1 recipient_mismatch'],
  ],
  [
    'a transaction of that id that another deposit claims on its own network',
    [webhook(unsent), webhook({ ...unsent, serviceId: second, deposit: { network: arbitrum } }), payment()],
    ['dep_1', 'dep_2 tx_reused unknown_address'],
  ],
])('%s', (_what, observations, expected) => {
  expect(identity(observations)).toEqual(expected)
  expect(identity(observations.toReversed())).toEqual(expected)
})

const again = (settlement = {}) => claim({ serviceId: second, settlement, receivedAt: at(9) })

test.each<[string, Observation[], string]>([
  ['told again under another id', [again()], 'reconciled observed tx_reused webhook_missing'],
  [
    'told again with another amount',
    [again({ amount: 7n as Amount })],
    'reconciled observed tx_reused webhook_missing',
  ],
])('of a delivered deposit, %s, nothing is taken by who claims its payment', (_what, more, expected) => {
  const all = [webhook(), claim(), payment(), delivery(), ...more]
  expect(outcome(all)).toBe(expected)
  expect(outcome(all.toReversed())).toBe(expected)
})

test('a delivery that is too little, and claimed twice with its payment, stays with the one that was paid', () => {
  const all = [webhook(), claim(), payment(), delivery({ amount: 99_000_000n as Amount }), again()]
  expect(outcome(all)).toBe('settled observed settlement_short tx_reused webhook_missing')
})

test('a person may give it to both all the same, and then it does not add up', () => {
  const short = delivery({ amount: 99_000_000n as Amount })
  const decisions = [second, undefined].map((serviceId) =>
    decision('together', short, { id: `ruling ${serviceId}`, ...(serviceId && { serviceId }) }),
  )
  const all = [webhook(), claim(), payment(), short, again(), ...decisions]
  expect(outcome(all)).toBe('settling observed ambiguous_match tx_reused ambiguous_match webhook_missing')
})

test('a delivery that adds up to both is shared by them, though both claim one payment', () => {
  const both = delivery({ amount: 199_800_000n as Amount })
  const { deposits } = decided([webhook(), claim(), payment(), both, again()])
  expect(deposits.map(({ evidence }) => evidence.settlements.map(({ amount }) => amount))).toEqual([
    [99_900_000n],
    [99_900_000n],
  ])
})

test('what is on another network than stated is booked where the chain has it, and is not reconciled', () => {
  const wrong = { settlement: { network: base } }
  const { deposits } = decided([webhook(wrong), claim(wrong), payment(), delivery()])
  expect(deposits).toMatchObject([{ verdict: { state: 'settled' } }])
  expect(deposits.flatMap(({ journals }) => journals.map(({ kind }) => kind))).toEqual([
    'deposit',
    'settlement',
    'conversion',
  ])
  expect(outcome([webhook(), claim(), payment(), delivery()])).toBe('reconciled')
})

function details(...observations: Observation[]) {
  return decided(observations).deposits.flatMap(({ verdict }) =>
    verdict.mismatches
      .filter(({ kind }) => ['tx_reused', 'network_mismatch', 'ambiguous_match'].includes(kind))
      .map(({ detail }) => detail),
  )
}

test('a mismatch names the networks, the other deposit, or the sums', () => {
  expect(details(...twice, payment())).toMatchObject([
    { deposit: 'dep_1', transfer: expect.stringMatching(/^base.*0$/) },
  ])
  const elsewhere = claim({ deposit: { network: arbitrum } })
  const leg = { leg: 'deposit', transaction: elsewhere.deposit.tx }
  expect(details(webhook(), elsewhere)).toEqual([{ ...leg, webhook: 'base', api: 'arbitrum' }])
  expect(details(elsewhere, payment())).toEqual([{ ...leg, api: 'arbitrum', chain: 'base' }])
  const unnamed = [webhook, claim].map((reported, place) =>
    reported({ deposit: { network: place === 0 ? base : arbitrum, tx: null } }),
  )
  expect(details(...unnamed)).toEqual([{ leg: 'deposit', webhook: 'base', api: 'arbitrum' }])
  const many = Array.from({ length: 12 }, (_, place) =>
    claim({ serviceId: `dep_${10 + place}` as ServiceId }),
  )
  expect(details(...many, delivery({ amount: 7n as Amount })).at(0)).toMatchObject({
    stated: `${12n * 99_900_000n}`,
    delivered: '7',
    deposits: 'dep_10, dep_11, dep_12, dep_13, dep_14, dep_15, dep_16, dep_17, dep_18, dep_19 and 2 more',
  })
})
