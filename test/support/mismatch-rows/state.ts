import type { Amount } from '../../../src/core/money.ts'
import {
  at,
  claim,
  credit,
  delivery,
  payment,
  txId,
  walletAddress,
  walletApproval,
  webhook,
} from '../evidence.ts'
import { type Row, reported } from './row.ts'

const undelivered = { settlement: { amount: null, tx: null } } as const
const all = [...reported(), payment(), delivery()]
const otherTx = { settlement: { tx: txId('another') } }
const back = { ...undelivered, status: 'confirmed', occurredAt: at(20), receivedAt: at(21) } as const
const onTheWay = { ...undelivered, status: 'settling' } as const
const failed = [...reported({ ...undelivered, status: 'failed' }), payment()]
const early = { occurredAt: at(-30) }
const ahead = { occurredAt: at(30), receivedAt: at(5) }
const later = { occurredAt: at(40), receivedAt: at(41) }
const wallet = {
  owner: walletApproval.owner,
  deposit: { address: walletAddress },
  settlement: { network: 'stable-wallet', address: 'savings', asset: credit, tx: null },
} as Parameters<typeof claim>[0]

/** What is wrong with the course of a deposit. */
export const stateRows: readonly Row[] = [
  {
    kind: 'conversion_open',
    where: 'the delivery is booked, and the API stays behind',
    opens: { evidence: [webhook(), claim({ status: 'settling' }), payment(), delivery()], now: at(65) },
    without: { evidence: [webhook(), claim({ status: 'settling' }), payment(), delivery()], now: at(63) },
    ends: {
      'by a record that is settled': { evidence: [claim(later)] },
      'by a mismatch of the amount': {
        evidence: [claim({ ...later, settlement: { amount: 5n as Amount } })],
      },
      'by a policy that gives it more time': { policy: { settlementWithinMs: 7_200_000 } },
    },
  },
  {
    kind: 'status_regressed',
    where: 'the record goes back',
    opens: { evidence: [...reported(onTheWay), payment(), claim(back)] },
    without: { evidence: [...reported(onTheWay), payment(), claim({ ...back, occurredAt: at(2) })] },
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
    where: 'the record goes back, by a clock that is right',
    opens: {
      evidence: [
        ...reported(onTheWay),
        payment(),
        claim({ ...back, occurredAt: at(200), receivedAt: at(201) }),
      ],
    },
    without: { evidence: [...reported(onTheWay), payment(), claim({ ...back, occurredAt: at(200) })] },
    ends: { 'by one that goes on': { evidence: [claim({ occurredAt: at(300), receivedAt: at(301) })] } },
  },
  {
    kind: 'status_regressed',
    where: 'webhooks go back',
    opens: { evidence: [...reported(onTheWay), payment(), webhook(back)] },
    without: {
      evidence: [
        ...reported(onTheWay),
        payment(),
        webhook({ ...back, receivedAt: back.occurredAt, isUndated: true }),
      ],
    },
    ends: { 'by one that goes on': { evidence: [webhook({ occurredAt: at(30), receivedAt: at(31) })] } },
  },
  {
    kind: 'status_regressed',
    where: 'webhooks go back, and are there in the very millisecond that they name',
    opens: {
      evidence: [...reported(onTheWay), payment(), webhook({ ...back, receivedAt: back.occurredAt })],
    },
    without: { evidence: [...reported(onTheWay), payment()] },
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
    where: 'the API says refunded, and never said settled as a webhook did',
    opens: { evidence: [webhook(), claim({ ...later, status: 'refunded' }), payment()] },
    without: { evidence: [webhook(), claim(), claim({ ...later, status: 'refunded' }), payment()] },
    ends: {
      'by a webhook that says refunded, too': { evidence: [webhook({ ...later, status: 'refunded' })] },
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
    where: 'webhooks say refunded later than settled',
    opens: { evidence: [...all, webhook({ ...later, status: 'refunded' })] },
    without: { evidence: [...all, webhook({ status: 'refunded' })] },
    ends: {
      'by one that says settled again': { evidence: [webhook({ occurredAt: at(50), receivedAt: at(51) })] },
    },
  },
  {
    kind: 'terminal_reopened',
    where: 'what was settled is said to be delivered by another transaction',
    opens: {
      evidence: [...all, webhook({ ...otherTx, ...later }), claim({ ...otherTx, ...later })].filter(
        (one) => one.kind !== 'chain_transfer' || one.role === 'deposit',
      ),
    },
    without: { evidence: [...reported(), payment(), ...reported(later)] },
    ends: {
      'by a record that says as before': { evidence: reported({ occurredAt: at(50), receivedAt: at(51) }) },
      'by the delivery in that transaction': { evidence: [delivery({ tx: txId('another') })] },
    },
  },
  {
    kind: 'terminal_reopened',
    where: 'the credit of a wallet is changed afterwards',
    opens: {
      evidence: [
        ...reported(wallet),
        payment({ to: walletAddress }),
        claim({ ...wallet, settlement: { ...wallet?.settlement, amount: 5n as Amount }, ...later }),
      ],
    },
    without: {
      evidence: [...reported(wallet), payment({ to: walletAddress }), claim({ ...wallet, ...later })],
    },
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
    ends: { 'by its delivery': { evidence: [...reported({ ...later, receivedAt: at(42) }), delivery()] } },
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
    opens: { evidence: [...reported({ occurredAt: at(-30) }), payment(), delivery()] },
    without: { evidence: [...reported({ occurredAt: at(-4) }), payment(), delivery()] },
    ends: { 'by words with the right time': { evidence: reported(later) } },
  },
  {
    kind: 'clock_skew',
    where: 'what is confirmed was told of before it was made',
    opens: { evidence: [...reported({ ...undelivered, ...early, status: 'confirmed' }), payment()] },
    without: { evidence: [...reported({ ...undelivered, ...early, status: 'observed' }), payment()] },
    ends: { 'by words with the right time': { evidence: reported(later) } },
  },
  {
    kind: 'clock_skew',
    where: 'a payment was told of before it was made, by a chain whose clock is right',
    opens: {
      evidence: [...reported({ occurredAt: at(3) }), payment({ blockAt: at(60), receivedAt: at(61) })],
    },
    without: {
      evidence: [...reported({ occurredAt: at(3) }), payment({ blockAt: at(60), receivedAt: at(2) })],
    },
    ends: {
      'by words with the right time': { evidence: reported({ occurredAt: at(58), receivedAt: at(70) }) },
    },
  },
]
