import type { Amount } from '../../../src/core/money.ts'
import { at, delivery, failure, payment, txId, usdcOnBase, webhook, writeOffOf } from '../evidence.ts'
import { corrected, type Row, reported, ruled } from './row.ts'

const undelivered = { settlement: { amount: null, tx: null } } as const
const day = 24 * 60
const failed = [...reported({ ...undelivered, status: 'failed' }), payment()]

/** What is wrong with a chain, or by a policy. */
export const matterRows: readonly Row[] = [
  {
    kind: 'orphaned_after_booking',
    where: 'a final payment vanished',
    opens: { evidence: [payment(), payment({ stage: 'orphaned', epoch: 1 })] },
    without: { evidence: [payment({ stage: 'seen' }), payment({ stage: 'orphaned', epoch: 1 })] },
    ends: { 'by its return': { evidence: [payment({ epoch: 1 })] } },
  },
  {
    kind: 'tx_failed',
    where: 'the transaction that is named as the payment failed',
    opens: { evidence: [...reported(), failure()] },
    without: { evidence: [...reported(), failure(), payment()] },
    ends: {
      'by a payment in another transaction': {
        evidence: [...corrected({ deposit: { tx: txId('pay2') } }), payment({ tx: txId('pay2') })],
      },
      'by the word that it failed': { evidence: corrected({ status: 'failed' }) },
    },
  },
  {
    kind: 'below_minimum',
    where: 'less is paid than the policy accepts',
    opens: { evidence: [payment()], policy: { minimum: 100_000_001n as Amount } },
    without: { evidence: [payment()], policy: { minimum: 100_000_000n as Amount } },
    ends: {
      'by a policy that accepts it': { policy: { minimum: null } },
      'by its delivery all the same': { evidence: [...reported(), delivery()] },
      'by a refund': { evidence: reported({ ...undelivered, status: 'refunded' }) },
    },
  },
  {
    kind: 'unsupported_token',
    where: 'an asset is paid that the policy does not accept',
    opens: { evidence: [payment({ asset: usdcOnBase })], policy: { supported: false } },
    without: { evidence: [payment({ asset: usdcOnBase })], policy: { supported: true } },
    ends: {
      'by a policy that accepts it': { policy: { supported: true } },
      'by its delivery all the same': { evidence: [...reported(), delivery()] },
      'by a refund': { evidence: reported({ ...undelivered, status: 'refunded' }) },
    },
  },
  {
    kind: 'refund_due',
    where: 'the service says that it failed, and keeps the money',
    opens: { evidence: failed, now: at(day + 10) },
    without: { evidence: failed, now: at(day - 10) },
    ends: {
      'by the word that it was given back': { evidence: corrected({ ...undelivered, status: 'refunded' }) },
      'by a webhook that says so': {
        evidence: [webhook({ ...undelivered, status: 'refunded', occurredAt: at(9) })],
      },
      'by its delivery all the same': { evidence: [...corrected(), delivery()] },
      'by a person who writes it off': {
        evidence: [ruled(writeOffOf('assets:receivable:service'))],
      },
      'by a policy that gives it more time': { policy: { refundWithinMs: 48 * 3_600_000 } },
    },
  },
  {
    kind: 'refund_due',
    where: 'what failed was paid for good',
    opens: { evidence: failed, now: at(day + 10) },
    without: {
      evidence: [...reported({ ...undelivered, status: 'failed' }), payment({ stage: 'seen' })],
      now: at(day + 10),
    },
    ends: { 'by its disappearance': { evidence: [payment({ stage: 'orphaned', epoch: 1 })] } },
  },
]
