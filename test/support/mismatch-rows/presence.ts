import {
  arbitrum,
  at,
  claim,
  delivery,
  liquidity,
  payment,
  recipient,
  txId,
  usdcOnArbitrum,
  webhook,
  withdrawal,
  writeOffOf,
} from '../evidence.ts'
import { fruitless } from '../searched.ts'
import { first, type Row, reported, ruled } from './row.ts'

const unnamed = { deposit: { tx: null } }
const undelivered = { status: 'confirmed', settlement: { amount: null, tx: null } } as const
const refunded = {
  ...undelivered,
  status: 'refunded',
  deposit: { network: arbitrum, asset: usdcOnArbitrum },
  refund: { tx: txId('forward') },
} as const

const sought = { role: 'deposit', ...claim().deposit, from: at(3) } as const
const unread = fruitless(sought, { read: null, bookedAt: null, receivedAt: at(300) })

const paidOut = delivery({ tx: withdrawal().tx ?? txId(''), amount: withdrawal().amount })

export const presenceRows: readonly Row[] = [
  {
    kind: 'webhook_missing',
    where: 'the API and the chains know more than webhooks tell',
    opens: { evidence: [claim(), payment(), delivery()] },
    without: { evidence: [...reported(), payment(), delivery()] },
    ends: { 'by the webhook that was late': { evidence: [webhook({ receivedAt: at(500) })] } },
  },
  {
    kind: 'api_missing',
    where: 'the API does not list what a webhook tells of',
    opens: { evidence: [webhook(), payment(), delivery()] },
    without: { evidence: [...reported(), payment(), delivery()] },
    ends: { 'by the record that was late': { evidence: [claim({ receivedAt: at(500) })] } },
  },
  {
    kind: 'api_missing',
    where: 'the API does not list what is not delivered yet',
    opens: { evidence: [webhook(undelivered), payment()] },
    without: { evidence: [...reported(undelivered), payment()] },
    ends: { 'by the record that was late': { evidence: [claim({ ...undelivered, receivedAt: at(500) })] } },
  },
  {
    kind: 'chain_missing',
    where: 'the claimed payment is on no chain',
    opens: { evidence: reported() },
    without: { evidence: [...reported(), payment()] },
    ends: { 'by the payment that was late': { evidence: [payment({ receivedAt: at(500) })] } },
  },
  {
    kind: 'chain_missing',
    where: 'nothing says which payment is claimed',
    opens: { evidence: [...reported(unnamed), payment()] },
    without: { evidence: [...reported(), payment()] },
    ends: {
      'by a person who says which': { evidence: [ruled({ kind: 'together', serviceId: first })] },
      'by a record that names it': { evidence: [claim({ occurredAt: at(9) })] },
    },
  },
  {
    kind: 'not_covered',
    where: 'nobody has read where the claimed payment should be',
    opens: { evidence: [...reported(), unread] },
    without: { evidence: reported() },
    ends: {
      'by the payment, once it is read': { evidence: [payment({ receivedAt: at(500) })] },
      'by a search that proves it missing': { evidence: [fruitless(sought, {})] },
    },
  },
  {
    kind: 'unreported',
    where: 'nobody claims the payment',
    opens: { evidence: [payment()] },
    without: { evidence: [payment(), claim()] },
    ends: { 'by the record that was late': { evidence: [claim({ receivedAt: at(500) })] } },
  },
  {
    kind: 'unreported',
    where: 'what is claimed may be another payment',
    opens: { evidence: [payment(), ...reported(unnamed)] },
    without: { evidence: [payment(), ...reported()] },
    ends: { 'by a person who joins them': { evidence: [ruled({ kind: 'together', serviceId: first })] } },
  },
  {
    kind: 'settlement_missing',
    where: 'nothing is delivered',
    opens: { evidence: [...reported(undelivered), payment()] },
    without: { evidence: [...reported(), payment(), delivery()] },
    ends: {
      'by the delivery that was late': { evidence: [...reported(), delivery({ receivedAt: at(500) })] },
      'by a refund': { evidence: reported({ ...undelivered, status: 'refunded' }) },
      'by the word that it failed': { evidence: reported({ ...undelivered, status: 'failed' }) },
      'by a hold': { evidence: reported({ ...undelivered, status: 'held' }) },
      'by a person who writes it off': {
        evidence: [ruled(writeOffOf('expenses:write_off'))],
      },
    },
  },
  {
    kind: 'settlement_unreported',
    where: 'the service delivers what belongs to nothing that it reported',
    opens: { evidence: [delivery()] },
    without: { evidence: [delivery({ from: recipient })] },
    ends: {
      'by a record that names it': { evidence: [claim({ receivedAt: at(500) })] },
      'by a record that names it as a refund': { evidence: reported(refunded) },
      'by a person who says what it delivers': {
        evidence: [
          ...reported({ settlement: { tx: null } }),
          ruled({ kind: 'together', serviceId: first }, delivery({ from: liquidity })),
        ],
      },
    },
  },
  {
    kind: 'withdrawal_unproved',
    where: 'no chain shows what the service calls withdrawn',
    opens: { evidence: [withdrawal()] },
    without: { evidence: [withdrawal(), paidOut] },
    ends: {
      'by its transfer': { evidence: [paidOut] },
      'by the service, which calls it failed': {
        evidence: [withdrawal({ status: 'failed', receivedAt: at(500) })],
      },
    },
  },
]
