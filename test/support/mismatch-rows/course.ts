import type { Amount } from '../../../src/core/money.ts'
import {
  at,
  claim,
  credit,
  delivery,
  failure,
  payment,
  txId,
  usdcOnBase,
  walletAddress,
  walletApproval,
  webhook,
} from '../evidence.ts'
import { corrected, type Row, ruled, told } from './row.ts'

const undelivered = { settlement: { amount: null, tx: null } } as const
const held = [...told({ ...undelivered, status: 'held' }), payment()]
const all = [...told(), payment(), delivery()]
const day = 24 * 60
const otherTx = { settlement: { tx: txId('another') } }
const back = { ...undelivered, status: 'confirmed', occurredAt: at(20), receivedAt: at(21) } as const
const onTheWay = { ...undelivered, status: 'settling' } as const
const failed = [...told({ ...undelivered, status: 'failed' }), payment()]
const ahead = { occurredAt: at(30), receivedAt: at(5) }
const later = { occurredAt: at(40), receivedAt: at(41) }
const wallet = {
  owner: walletApproval.owner,
  deposit: { address: walletAddress },
  settlement: { network: 'stable-wallet', address: 'savings', asset: credit, tx: null },
} as Parameters<typeof claim>[0]

/** Of the families state, chain and policy. */
export const courseRows: readonly Row[] = [
  {
    kind: 'stuck',
    where: 'it is held, and nobody says for how long',
    opens: { evidence: held, now: at(day + 10) },
    without: { evidence: held, now: at(day - 10) },
    ends: {
      'by a refund': { evidence: corrected({ ...undelivered, status: 'refunded' }) },
      'by its delivery': { evidence: [...corrected(), delivery({ receivedAt: at(day) })] },
      'by a mismatch that tells why': { evidence: told({ deposit: { amount: 5n as Amount } }) },
      'by a policy that gives it more time': { policy: { stuckAfterMs: 48 * 3_600_000 } },
    },
  },
  {
    kind: 'stuck',
    where: 'a payment that was seen does not become final',
    opens: { evidence: [payment({ stage: 'seen' })], now: at(day + 10) },
    without: { evidence: [payment({ stage: 'seen', receivedAt: at(20) })], now: at(day + 10) },
    ends: {
      'by its finality': { evidence: [payment({ receivedAt: at(day) })] },
      'by its disappearance': { evidence: [payment({ stage: 'orphaned' })] },
    },
  },
  {
    kind: 'status_regressed',
    where: 'the record goes back',
    opens: { evidence: [...told(onTheWay), payment(), claim(back)] },
    without: { evidence: [...told(onTheWay), payment(), claim({ ...back, occurredAt: at(2) })] },
    ends: {
      'by a record that goes on': {
        evidence: [claim({ ...onTheWay, occurredAt: at(30), receivedAt: at(31) })],
      },
      'by a hold that came between': {
        evidence: [webhook({ ...undelivered, status: 'held', occurredAt: at(10), receivedAt: at(11) })],
      },
    },
  },
  {
    kind: 'status_regressed',
    where: 'webhooks go back',
    opens: { evidence: [...told(onTheWay), payment(), webhook(back)] },
    without: { evidence: [...told(onTheWay), payment(), webhook({ ...back, receivedAt: back.occurredAt })] },
    ends: { 'by one that goes on': { evidence: [webhook({ occurredAt: at(30), receivedAt: at(31) })] } },
  },
  {
    kind: 'status_conflict',
    where: 'a webhook says refunded, the API settled',
    opens: { evidence: [webhook({ status: 'refunded' }), claim(), payment(), delivery()] },
    without: { evidence: all },
    ends: {
      'by a webhook that says settled, too': { evidence: [webhook(later)] },
      'by a record that says refunded, too': { evidence: [claim({ ...later, status: 'refunded' })] },
    },
  },
  {
    kind: 'status_conflict',
    where: 'a webhook says held after the API said settled',
    opens: { evidence: [webhook({ status: 'held', ...later }), claim(), payment(), delivery()] },
    without: { evidence: [webhook({ status: 'held', occurredAt: at(2) }), claim(), payment(), delivery()] },
    ends: {
      'by a webhook that says settled, too': {
        evidence: [webhook({ occurredAt: at(50), receivedAt: at(51) })],
      },
    },
  },
  {
    kind: 'status_conflict',
    where: 'the API says settled after a webhook said failed',
    opens: { evidence: [webhook({ status: 'failed', occurredAt: at(2) }), claim(), payment(), delivery()] },
    without: { evidence: [webhook({ status: 'failed' }), claim({ status: 'failed' }), payment()] },
    ends: { 'by a webhook that says settled, too': { evidence: [webhook(later)] } },
  },
  {
    kind: 'terminal_reopened',
    where: 'what was settled is under way again',
    opens: { evidence: [...all, claim({ status: 'settling', ...later })] },
    without: { evidence: [...all, claim({ status: 'settling', occurredAt: at(2), receivedAt: at(41) })] },
    ends: {
      'by a record that says settled again': {
        evidence: [claim({ occurredAt: at(50), receivedAt: at(51) })],
      },
    },
  },
  {
    kind: 'terminal_reopened',
    where: 'what was settled is said to be delivered by another transaction',
    opens: {
      evidence: [...all, webhook({ ...otherTx, ...later }), claim({ ...otherTx, ...later })].filter(
        (one) => one.kind !== 'sighting' || one.role === 'deposit',
      ),
    },
    without: { evidence: [...told(), payment(), ...told(later)] },
    ends: {
      'by a record that says as before': { evidence: told({ occurredAt: at(50), receivedAt: at(51) }) },
      'by the delivery in that transaction': { evidence: [delivery({ tx: txId('another') })] },
    },
  },
  {
    kind: 'terminal_reopened',
    where: 'the credit of a wallet is changed afterwards',
    opens: {
      evidence: [
        ...told(wallet),
        payment({ to: walletAddress }),
        claim({ ...wallet, settlement: { ...wallet?.settlement, amount: 5n as Amount }, ...later }),
      ],
    },
    without: { evidence: [...told(wallet), payment({ to: walletAddress }), claim({ ...wallet, ...later })] },
    ends: {
      'by a record that says as before': {
        evidence: [claim({ ...wallet, occurredAt: at(50), receivedAt: at(51) })],
      },
    },
  },
  {
    kind: 'terminal_reopened',
    where: 'what had failed is settled',
    opens: { evidence: [...failed, claim({ ...undelivered, ...later })] },
    without: { evidence: [...failed, claim({ ...undelivered, status: 'refunded', ...later })] },
    ends: { 'by its delivery': { evidence: [...told({ ...later, receivedAt: at(42) }), delivery()] } },
  },
  {
    kind: 'clock_skew',
    where: 'the service is ahead of our clock',
    opens: { evidence: [webhook(), claim(ahead), payment(), delivery()] },
    without: { evidence: [webhook(), claim({ ...ahead, occurredAt: at(9) }), payment(), delivery()] },
    ends: {
      'by a word with the right time': { evidence: [claim(later)] },
      'by a policy that accepts it': { policy: { clockSkewMs: 3_600_000 } },
    },
  },
  {
    kind: 'clock_skew',
    where: 'a payment was told of before it was made',
    opens: { evidence: [...told({ occurredAt: at(-30) }), payment(), delivery()] },
    without: { evidence: [...told({ occurredAt: at(-4) }), payment(), delivery()] },
    ends: { 'by words with the right time': { evidence: told(later) } },
  },
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
    opens: { evidence: [...told(), failure()] },
    without: { evidence: [...told(), failure(), payment()] },
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
      'by its delivery all the same': { evidence: [...told(), delivery()] },
      'by a refund': { evidence: told({ ...undelivered, status: 'refunded' }) },
    },
  },
  {
    kind: 'unsupported_token',
    where: 'an asset is paid that the policy does not accept',
    opens: { evidence: [payment({ asset: usdcOnBase })], policy: { supported: false } },
    without: { evidence: [payment({ asset: usdcOnBase })], policy: { supported: true } },
    ends: {
      'by a policy that accepts it': { policy: { supported: true } },
      'by its delivery all the same': { evidence: [...told(), delivery()] },
      'by a refund': { evidence: told({ ...undelivered, status: 'refunded' }) },
    },
  },
  {
    kind: 'refund_due',
    where: 'the service says that it failed, and keeps the money',
    opens: { evidence: failed, now: at(day + 10) },
    without: { evidence: failed, now: at(day - 10) },
    ends: {
      'by the word that it was given back': { evidence: corrected({ ...undelivered, status: 'refunded' }) },
      'by its delivery all the same': { evidence: [...corrected(), delivery()] },
      'by a person who writes it off': {
        evidence: [ruled({ kind: 'write_off', account: 'assets:receivable:service' })],
      },
      'by a policy that gives it more time': { policy: { refundWithinMs: 48 * 3_600_000 } },
    },
  },
]
