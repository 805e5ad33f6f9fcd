import type { Address } from '../../../src/core/asset.ts'
import type { Owner } from '../../../src/core/evidence.ts'
import type { Approval } from '../../../src/core/matching/divide.ts'
import type { Amount } from '../../../src/core/money.ts'
import { arbitrum, base, claim, delivery, payment, txId, usdcOnArbitrum, webhook } from '../evidence.ts'
import { corrected, first, type Row, ruled, second, told } from './row.ts'

const elsewhere = '0x00000000000000000000000000000000000000dd' as Address
const stranger: Owner = { kind: 'channel', id: 'of somebody else' }
const forward = { network: arbitrum, recipient: elsewhere }
const strangers: Approval = { network: base, address: elsewhere, owner: stranger, forward }
const all = [...told(), payment(), delivery()]
const onArbitrum = { deposit: { network: arbitrum, asset: usdcOnArbitrum } }
const other = { serviceId: second, deposit: { tx: txId('pay2') } }
const otherPayment = payment({ tx: txId('pay2') })
const shared = delivery({ amount: 210_000_000n as Amount })

export const identityRows: readonly Row[] = [
  {
    kind: 'recipient_mismatch',
    where: 'the service names another recipient',
    opens: { evidence: [...told({ settlement: { address: elsewhere } }), payment()] },
    without: { evidence: all },
    ends: { 'by a corrected record': { evidence: [...corrected(), delivery()] } },
  },
  {
    kind: 'recipient_mismatch',
    where: 'the delivery went to somebody else whom we watch',
    opens: { evidence: [...told(), payment(), delivery({ to: elsewhere })] },
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
    opens: { evidence: [...told(onArbitrum), payment()] },
    without: { evidence: [...told(), payment()] },
    ends: { 'by a corrected record': { evidence: corrected() } },
  },
  {
    kind: 'network_mismatch',
    where: 'webhook and record name two networks, and no chain shows the payment yet',
    opens: { evidence: [webhook(), claim(onArbitrum)] },
    without: { evidence: told() },
    ends: { 'by a corrected record': { evidence: corrected() } },
  },
  {
    kind: 'address_changed',
    where: 'the service states another address for an owner of ours',
    opens: { evidence: told({ deposit: { address: elsewhere } }) },
    without: { evidence: told() },
    ends: { 'by a corrected record': { evidence: corrected() } },
  },
  {
    kind: 'unknown_address',
    where: 'neither the address nor its owner is ours',
    opens: { evidence: told({ owner: stranger, deposit: { address: elsewhere } }) },
    without: { evidence: told() },
    ends: {
      'by the owner that is imported': { approvals: [strangers] },
      'by a corrected record': { evidence: corrected() },
    },
  },
  {
    kind: 'unknown_owner',
    where: 'a payment to us is said to be for somebody whom the book does not have',
    opens: { evidence: [...told({ owner: stranger }), payment(), delivery()] },
    without: { evidence: all },
    ends: {
      'by a corrected record': { evidence: corrected() },
      'by the owner that is imported': { approvals: [strangers] },
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
    opens: { evidence: [...told(), ...told(other), payment(), otherPayment, shared] },
    without: {
      evidence: [
        ...told(),
        ...told(other),
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
