import type { Amount } from '../../../src/core/money.ts'
import { claim, delivery, payment, usdtOnBase, webhook } from '../evidence.ts'
import { corrected, type Row, reported } from './row.ts'

const base = (amount: bigint) => amount as Amount
const all = [...reported(), payment(), delivery()]
const otherAmount = claim({ deposit: { amount: base(5n) } })
const otherDelivery = claim({ settlement: { amount: base(5n) } })
const otherAsset = claim({ deposit: { asset: usdtOnBase } })
const otherUnits = claim({ deposit: { amount: base(10n ** 20n) } })
const short = delivery({ amount: base(90_000_001n) })
const over = delivery({ amount: base(99_900_001n) })
const fixed = { fee: { kind: 'fixed', amount: base(100_000n) } } as const
const dearer = { settlement: { fee: base(100_001n) } }

export const valueRows: readonly Row[] = [
  {
    kind: 'amount_mismatch',
    where: 'the API states another amount of the payment',
    opens: { evidence: [webhook(), otherAmount, payment(), delivery()] },
    without: { evidence: all },
    ends: { 'by a corrected record': { evidence: corrected() } },
  },
  {
    kind: 'amount_mismatch',
    where: 'the voices of the service state different deliveries',
    opens: { evidence: [webhook(), otherDelivery, payment(), delivery()] },
    without: { evidence: all },
    ends: { 'by a corrected record': { evidence: corrected() } },
  },
  {
    kind: 'asset_mismatch',
    where: 'the API names another asset of the payment',
    opens: { evidence: [webhook(), otherAsset, payment(), delivery()] },
    without: { evidence: all },
    ends: { 'by a corrected record': { evidence: corrected() } },
  },
  {
    kind: 'decimals_mismatch',
    where: 'the API states the amount in other decimals',
    opens: { evidence: [webhook(), otherUnits, payment(), delivery()] },
    without: { evidence: all },
    ends: { 'by a record that is read in the right ones': { evidence: corrected() } },
  },
  {
    kind: 'settlement_short',
    where: 'less is delivered than stated',
    opens: { evidence: [...reported(), payment(), short] },
    without: { evidence: all },
    ends: {
      'by a corrected record': { evidence: corrected({ settlement: { amount: short.amount } }) },
      'by the rest': { evidence: [delivery({ index: '1', amount: base(9_899_999n) })] },
      'by a policy that accepts it': { policy: { tolerance: { amount: base(9_899_999n), bps: 0 } } },
    },
  },
  {
    kind: 'settlement_over',
    where: 'more is delivered than stated',
    opens: { evidence: [...reported(), payment(), over] },
    without: { evidence: all },
    ends: {
      'by a corrected record': { evidence: corrected({ settlement: { amount: over.amount } }) },
      'by a policy that accepts it': { policy: { tolerance: { amount: base(1n), bps: 0 } } },
    },
  },
  {
    kind: 'fee_out_of_band',
    where: 'the service keeps more than was agreed',
    opens: { evidence: [...reported(dearer), payment(), delivery()], policy: fixed },
    without: { evidence: all, policy: fixed },
    ends: {
      'by a corrected record': { evidence: corrected() },
      'by a policy that allows it': { policy: { fee: { kind: 'stated' } } },
    },
  },
]
