import { expect, test } from 'vitest'
import type { AssetKey } from '../../../src/core/asset.ts'
import type { ObservationGroup } from '../../../src/core/decide.ts'
import type { Amount } from '../../../src/core/money.ts'
import {
  at,
  claim,
  delivery,
  elsewhere,
  payment,
  txId,
  usdcOnArbitrum,
  webhook,
} from '../../support/evidence.ts'
import { decided, late, outcome } from '../../support/outcome.ts'

type Observations = ObservationGroup['observations']

const soon = at(6)
const usdtOnArbitrum = 'arbitrum/0x00000000000000000000000000000000000000a2' as AssetKey

test.each<[string, Observations, string]>([
  [
    'the last webhook was lost',
    [webhook({ status: 'settling' }), claim(), payment(), delivery()],
    'reconciled webhook_missing',
  ],
  [
    'the API stays behind',
    [webhook({ status: 'settling' }), webhook(), claim({ status: 'settling' }), payment(), delivery()],
    'settled api_missing conversion_open',
  ],
  ['the payment is not final yet', [webhook(), claim(), payment({ stage: 'seen' })], 'observed'],
  [
    'nothing is delivered',
    [webhook({ status: 'confirmed' }), claim({ status: 'confirmed' }), payment()],
    'confirmed settlement_missing',
  ],
  [
    'the webhook states another amount',
    [webhook({ deposit: { amount: 5n as Amount } }), claim(), payment(), delivery()],
    'settled amount_mismatch',
  ],
  [
    'the sources state different deliveries',
    [webhook({ settlement: { amount: 5n as Amount } }), claim(), payment(), delivery()],
    'settled amount_mismatch',
  ],
  [
    'a second part of the delivery is of another asset, which together is the number that is stated',
    [
      webhook({ status: 'settling', settlement: { tx: txId('second part'), asset: usdtOnArbitrum } }),
      webhook(),
      claim(),
      payment(),
      delivery({ amount: 50_000_000n as Amount }),
      delivery({ tx: txId('second part'), asset: usdtOnArbitrum, amount: 49_900_000n as Amount }),
    ],
    'settled asset_mismatch',
  ],
  [
    'less is delivered than stated',
    [webhook(), claim(), payment(), delivery({ amount: 1n as Amount })],
    'settled settlement_short',
  ],
  [
    'more is delivered than stated',
    [webhook(), claim(), payment(), delivery({ amount: 100_000_001n as Amount })],
    'settled settlement_over',
  ],
  [
    'a part is delivered and the service says that it goes on',
    [
      webhook({ status: 'settling' }),
      claim({ status: 'settling' }),
      payment(),
      delivery({ amount: 1n as Amount }),
    ],
    'settling settlement_missing',
  ],
  [
    'the service names another recipient',
    [webhook(), claim({ settlement: { address: elsewhere } }), payment(), delivery()],
    'settled recipient_mismatch',
  ],
  [
    'an early chain_transfer vanished',
    [payment({ stage: 'seen' }), payment({ stage: 'orphaned' })],
    'orphaned',
  ],
  [
    'a vanished payment came back',
    [
      webhook(),
      claim(),
      payment(),
      payment({ stage: 'orphaned', epoch: 1 }),
      payment({ epoch: 1 }),
      delivery(),
    ],
    'reconciled',
  ],
  [
    'a vanished chain_transfer came back under another index',
    [
      payment({ stage: 'seen', index: '7' }),
      payment({ stage: 'orphaned', index: '7' }),
      webhook(),
      claim(),
      payment(),
      delivery(),
    ],
    'reconciled',
  ],
  [
    'only a webhook knows of the delivery yet',
    [
      webhook({ status: 'observed' }),
      webhook(),
      claim({ status: 'observed', settlement: { tx: null, amount: null } }),
      payment(),
      delivery(),
    ],
    'settled api_missing',
  ],
  [
    'only a webhook knows that the delivery is under way',
    [
      webhook({ status: 'confirmed' }),
      webhook({ status: 'settling' }),
      claim({ status: 'confirmed' }),
      payment(),
    ],
    'settling settlement_missing',
  ],
  [
    'the service says that it failed, and may still give it back in time',
    [
      webhook({ status: 'failed' }),
      claim({ status: 'failed', settlement: { tx: null, amount: null } }),
      payment(),
    ],
    'failed',
  ],
  ['the service holds it', [webhook({ status: 'held' }), claim({ status: 'held' }), payment()], 'held'],
  [
    'the service gave it back',
    [webhook(), webhook({ status: 'refunded' }), claim({ status: 'refunded' }), payment()],
    'refunded',
  ],
  [
    'a webhook alone says that it failed',
    [webhook({ status: 'failed' }), payment()],
    'confirmed api_missing settlement_missing',
  ],
])('%s', (_what, observations, expected) => {
  expect(outcome(observations)).toBe(expected)
})

test('nothing is missed before its time, and the time to look again is known', () => {
  const young = [claim(), payment(), delivery()]
  expect(outcome(young, soon)).toBe('reconciled')
  expect(decided(young, soon).recheckAt).toEqual(at(2 + 10))
  expect(outcome(young, at(12))).toBe('reconciled webhook_missing')
  expect(decided(young, late).recheckAt).toBeNull()
})

test('an unexplained delivery waits its time before it is one', () => {
  expect(outcome([delivery()], soon)).toBe('')
  expect(decided([delivery()], soon).recheckAt).toEqual(at(4 + 20))
})

test('what each cell of the matrix says', () => {
  const short = delivery({ amount: 1n as Amount })
  const matrix = decided([webhook({ status: 'settling' }), claim(), payment(), short]).deposits[0]?.verdict
    .matrix
  expect(matrix).toEqual({
    deposit: { webhook: 'agrees', api: 'agrees', chain: 'agrees' },
    settlement: { webhook: 'present', api: 'differs', chain: 'agrees' },
  })
  const asset = { settlement: { asset: usdcOnArbitrum } }
  expect(decided([claim(asset)]).deposits[0]?.verdict.matrix).toEqual({
    deposit: { webhook: 'absent', api: 'present', chain: 'absent' },
    settlement: { webhook: 'absent', api: 'present', chain: 'absent' },
  })
})

test('a delivery is booked only once the API states it, since only the API states the fee', () => {
  const unstated = claim({ status: 'observed', settlement: { tx: null, amount: null } })
  const kinds = (api: typeof unstated) =>
    decided([webhook(), api, payment(), delivery()]).deposits[0]?.journals.map(({ kind }) => kind)
  expect(kinds(unstated)).toEqual(['deposit'])
  expect(kinds(claim())).toEqual(['deposit', 'settlement', 'conversion'])
})
