import type { Owner } from '../../../src/core/evidence.ts'
import type { Approval } from '../../../src/core/matching/divide.ts'
import type { Amount } from '../../../src/core/money.ts'
import {
  arbitrum,
  base,
  claim,
  delivery,
  elsewhere,
  payment,
  txId,
  usdcOnArbitrum,
  webhook,
} from '../evidence.ts'
import { corrected, first, type Row, reported, ruled, second } from './row.ts'

const addressConflict: Owner = { kind: 'channel', id: 'of somebody else' }
const forward = { network: arbitrum, recipient: elsewhere }
const addressConflicts: Approval = { network: base, address: elsewhere, owner: addressConflict, forward }
const nobodysClaim = reported({ owner: null, deposit: { address: elsewhere } })
const ofAcme: Owner = { kind: 'channel', id: 'acme/shop' }
const all = [...reported(), payment(), delivery()]
const onArbitrum = { deposit: { network: arbitrum, asset: usdcOnArbitrum } }
const other = { serviceId: second, deposit: { tx: txId('pay2') } }
const otherPayment = payment({ tx: txId('pay2') })
const shared = delivery({ amount: 210_000_000n as Amount })

export const identityRows: readonly Row[] = [
  {
    kind: 'recipient_mismatch',
    where: 'the service names another recipient',
    opens: { evidence: [...reported({ settlement: { address: elsewhere } }), payment()] },
    without: { evidence: all },
    ends: { 'by a corrected record': { evidence: [...corrected(), delivery()] } },
  },
  {
    kind: 'recipient_mismatch',
    where: 'the delivery went to somebody else whom we watch',
    opens: { evidence: [...reported(), payment(), delivery({ to: elsewhere })] },
    without: { evidence: all },
    ends: {
      'by a person who says that it is not this one': {
        evidence: [ruled({ kind: 'apart', serviceId: first }, delivery({ to: elsewhere }))],
      },
    },
  },
  {
    kind: 'network_mismatch',
    where: 'the service names another network than the one that has the payment',
    opens: { evidence: [...reported(onArbitrum), payment()] },
    without: { evidence: [...reported(), payment()] },
    ends: { 'by a corrected record': { evidence: corrected() } },
  },
  {
    kind: 'network_mismatch',
    where: 'webhook and record name two networks, and no chain shows the payment yet',
    opens: { evidence: [webhook(), claim(onArbitrum)] },
    without: { evidence: reported() },
    ends: { 'by a corrected record': { evidence: corrected() } },
  },
  {
    kind: 'address_changed',
    where: 'the service states another address for an owner of ours',
    opens: { evidence: reported({ deposit: { address: elsewhere } }) },
    without: { evidence: reported() },
    ends: { 'by a corrected record': { evidence: corrected() } },
  },
  {
    kind: 'unknown_address',
    where: 'neither the address nor its owner is ours',
    opens: { evidence: reported({ owner: addressConflict, deposit: { address: elsewhere } }) },
    without: { evidence: reported() },
    ends: {
      'by the owner that is imported': { approvals: [addressConflicts] },
      'by a corrected record': { evidence: corrected() },
    },
  },
  {
    kind: 'unknown_owner',
    where: 'a payment to us is said to be for somebody whom the book does not have',
    opens: { evidence: [...reported({ owner: addressConflict }), payment(), delivery()] },
    without: { evidence: all },
    ends: {
      'by a corrected record': { evidence: corrected() },
      'by the owner that is imported': { approvals: [addressConflicts] },
    },
  },
  {
    kind: 'service_mismatch',
    where: 'the address belongs to an owner of another service',
    opens: { evidence: nobodysClaim, approvals: [{ ...addressConflicts, owner: ofAcme }] },
    without: { evidence: nobodysClaim, approvals: [addressConflicts] },
    ends: {
      'by a corrected record': { evidence: corrected() },
      'by the owner that is imported': { approvals: [addressConflicts] },
    },
  },
  {
    kind: 'tx_reused',
    where: 'two deposits claim one payment',
    opens: { evidence: [...all, claim({ serviceId: second })] },
    without: { evidence: [...all, claim(other), otherPayment] },
    ends: {
      'by a record that names another': { evidence: [...corrected(other), otherPayment] },
      'by a person who says that it is not the second one': {
        evidence: [ruled({ kind: 'apart', serviceId: second })],
      },
    },
  },
  {
    kind: 'ambiguous_match',
    where: 'one delivery is named for two deposits, and does not add up',
    opens: { evidence: [...reported(), ...reported(other), payment(), otherPayment, shared] },
    without: {
      evidence: [
        ...reported(),
        ...reported(other),
        payment(),
        otherPayment,
        delivery({ amount: 199_800_000n as Amount }),
      ],
    },
    ends: {
      'by a corrected record': {
        evidence: corrected({ ...other, settlement: { amount: 110_100_000n as Amount } }),
      },
      'by a person who says whose it is': {
        evidence: [ruled({ kind: 'together', serviceId: first }, shared)],
      },
    },
  },
]
