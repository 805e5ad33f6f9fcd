import { expect, test } from 'vitest'
import type { ObservationGroup } from '../../../src/core/decide.ts'
import { claim, delivery, failedDelivery, failure, payment, txId, webhook } from '../../support/evidence.ts'
import { outcome } from '../../support/outcome.ts'

test.each<[string, ObservationGroup['observations'], string]>([
  ['the claimed payment failed on its chain', [webhook(), claim(), failure()], 'observed tx_failed'],
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
  ['the claimed delivery failed', [webhook(), claim(), payment(), failedDelivery()], 'settling tx_failed'],
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
    'nobody names the transaction that failed',
    [payment(), failure({ tx: txId('other') })],
    'confirmed unreported',
  ],
])('where %s', (_what, observations, expected) => {
  expect(outcome(observations)).toBe(expected)
})
