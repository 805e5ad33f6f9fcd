import type { Amount } from '../../../src/core/money.ts'
import { plainPolicy } from '../../../src/core/policy.ts'
import { at, claim, delivery, payment, webhook, writeOffOf } from '../evidence.ts'
import { corrected, type Row, reported, ruled } from './row.ts'

const undelivered = { settlement: { amount: null, tx: null } } as const
const held = [...reported({ ...undelivered, status: 'held' }), payment()]
const day = 24 * 60
const back = { ...undelivered, status: 'confirmed', occurredAt: at(20), receivedAt: at(21) } as const
const ahead = { occurredAt: at(30), receivedAt: at(5) }
const webhookRequired = {
  required: [...plainPolicy.required, 'settlement.webhook'],
  webhookStatuses: ['confirmed'],
} as const
const observed = reported({ ...undelivered, status: 'observed' })
const slow = { chainWithinMs: 72 * 3_600_000 }

/** Deposits that stay where they are. */
export const stuckRows: readonly Row[] = [
  {
    kind: 'stuck',
    where: 'it is held, and nobody says for how long',
    opens: { evidence: held, now: at(day + 10) },
    without: { evidence: held, now: at(day - 10) },
    ends: {
      'by a refund': { evidence: corrected({ ...undelivered, status: 'refunded' }) },
      'by its delivery': { evidence: [...corrected(), delivery({ receivedAt: at(day) })] },
      'by a mismatch that tells why': {
        evidence: corrected({ ...undelivered, status: 'held', deposit: { amount: 5n as Amount } }),
      },
      'by a policy that gives it more time': { policy: { stuckAfterMs: 48 * 3_600_000 } },
    },
  },
  {
    kind: 'stuck',
    where: 'it is held, and of that no webhook came, and a clock is wrong',
    opens: { evidence: [claim({ ...undelivered, ...ahead, status: 'held' }), payment()], now: at(day + 40) },
    without: {
      evidence: [...reported({ ...undelivered, status: 'refunded' }), payment()],
      now: at(day + 40),
    },
    ends: { 'by its delivery': { evidence: [...corrected(), delivery()] } },
  },
  {
    kind: 'stuck',
    where: 'it is settled, and a webhook is required of which none is expected',
    opens: {
      evidence: [webhook(back), claim(), payment(), delivery()],
      policy: webhookRequired,
      now: at(day + 10),
    },
    without: {
      evidence: [webhook(back), claim(), payment(), delivery()],
      policy: { ...webhookRequired, webhookStatuses: ['settled'] },
      now: at(day + 10),
    },
    ends: { 'by that webhook': { evidence: [webhook()] } },
  },
  {
    kind: 'stuck',
    where: 'it is seen, and not waited for by a deadline of its own',
    opens: { evidence: [...observed, payment({ stage: 'seen' })], now: at(day + 10), policy: slow },
    without: { evidence: observed, now: at(day + 10), policy: slow },
    ends: { 'by its finality': { evidence: [payment({ receivedAt: at(day) })] } },
  },
  {
    kind: 'stuck',
    where: 'it is held, and nobody expects it any more',
    opens: { evidence: held, now: at(day + 10) },
    without: {
      evidence: [...reported({ ...undelivered, status: 'refunded' }), payment()],
      now: at(day + 10),
    },
    ends: {
      'by a person who writes it off': {
        evidence: [ruled(writeOffOf('expenses:write_off'))],
      },
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
]
