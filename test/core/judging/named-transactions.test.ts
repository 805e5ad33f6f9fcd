import { expect, test } from 'vitest'
import type { Address } from '../../../src/core/asset.ts'
import { decide, type ObservationGroup } from '../../../src/core/decide.ts'
import type { Amount } from '../../../src/core/money.ts'
import {
  at,
  channelApproval,
  claim,
  delivery,
  failedDelivery,
  failure,
  payment,
  policy,
  txId,
  webhook,
} from '../../support/evidence.ts'
import { outcome } from '../../support/outcome.ts'

/** Role and transaction of what is named and was not seen. */
function unseen(
  observations: ObservationGroup['observations'],
  approvals: ObservationGroup['approvals'] = [channelApproval],
): string[] {
  const group = { observations, approvals, deposits: [], journals: [] }
  const { deposits } = decide(group, { policy, routes: [], senders: new Set() }, at(6))
  return deposits.flatMap((deposit) => deposit.unseen.map(({ role, tx }) => `${role} ${nameOf(tx)}`))
}

function nameOf(tx: string): string {
  return Buffer.from(tx.slice(2), 'hex').toString().replaceAll('\0', '')
}

const other = '0x00000000000000000000000000000000000000dd' as Address
const early = { settlement: { tx: null } }

test.each<[string, ObservationGroup['observations'], string[]]>([
  ['both legs of a claim', [claim()], ['deposit pay', 'recipient forward']],
  ['a webhook and a record that name the same', [webhook(early), claim(early)], ['deposit pay']],
  [
    'a webhook and a record that name others',
    [webhook({ ...early, deposit: { tx: txId('else') } }), claim(early)],
    ['deposit pay', 'deposit else'],
  ],
  [
    'a record that names two deliveries',
    [claim({ settlement: { furtherTxs: [txId('second')] } })],
    ['deposit pay', 'recipient forward', 'recipient second'],
  ],
  ['no transaction', [claim({ deposit: { tx: null }, settlement: { tx: null } })], []],
  ['what a chain has shown', [claim(), payment(), delivery({ stage: 'seen' })], []],
  ['what a chain has shown and taken back', [claim(early), payment({ stage: 'orphaned' })], ['deposit pay']],
  ['what failed', [claim(), failure(), failedDelivery()], []],
  [
    'a delivery to an address that is not the approved one',
    [claim({ settlement: { address: other } }), payment()],
    [],
  ],
])('of %s, what no chain has shown is to be read', (_what, observations, expected) => {
  expect(unseen(observations)).toEqual(expected)
})

test('a payment to an address of nobody is not to be read: no reading would show it', () => {
  expect(unseen([claim()], [])).toEqual([])
})

test.each<[string, ObservationGroup['observations'], string]>([
  [
    'a payment that failed was made in another transaction, which the API names',
    [
      webhook(),
      claim({ deposit: { tx: txId('again') } }),
      failure(),
      payment({ tx: txId('again') }),
      delivery(),
    ],
    'reconciled',
  ],
  [
    'the service knows that the payment failed',
    [webhook({ status: 'failed' }), claim({ status: 'failed' }), failure()],
    'observed',
  ],
  [
    'a delivery that failed was made in another transaction',
    [
      webhook(),
      claim({ settlement: { tx: txId('again') } }),
      payment(),
      failedDelivery(),
      delivery({ tx: txId('again') }),
    ],
    'reconciled',
  ],
  [
    'the second of two deliveries that a record names failed',
    [
      webhook({ settlement: { furtherTxs: [txId('second')] } }),
      claim({ settlement: { furtherTxs: [txId('second')] } }),
      payment(),
      failedDelivery({ tx: txId('second') }),
    ],
    'settling tx_failed',
  ],
  [
    'a record names two deliveries that add up',
    [
      webhook({ settlement: { furtherTxs: [txId('second')] } }),
      claim({ settlement: { furtherTxs: [txId('second')] } }),
      payment(),
      delivery({ amount: 99_000_000n as Amount }),
      delivery({ tx: txId('second'), amount: 900_000n as Amount }),
    ],
    'reconciled',
  ],
  [
    'a record names two deliveries and one came',
    [
      webhook({ settlement: { furtherTxs: [txId('second')] } }),
      claim({ settlement: { furtherTxs: [txId('second')] } }),
      payment(),
      delivery({ amount: 99_000_000n as Amount }),
    ],
    'settled settlement_short',
  ],
  [
    'nobody names the transaction that failed',
    [payment(), failure({ tx: txId('other') })],
    'confirmed unreported',
  ],
])('where %s', (_what, observations, expected) => {
  expect(outcome(observations)).toBe(expected)
})
