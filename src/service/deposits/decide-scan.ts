import { type AssetCode, assetCode } from '../../core/asset.ts'
import type { Scan, ScannedPayment } from '../network/port.ts'
import type { ServiceDepositRow } from '../tables.ts'

/** A deposit of this network that is not final yet, or whose transaction is in the scan. Vanished ones are left out. */
export type DepositScanRow = Pick<
  ServiceDepositRow,
  'id' | 'status' | 'transaction' | 'index' | 'address' | 'contract' | 'amount' | 'block' | 'block_hash'
>

export type ScanDecision = {
  /** Deposits that were detected and are not on the chain. */
  vanished: readonly string[]
  /** Deposits whose transaction is in another block now. */
  moved: readonly { id: string; payment: ScannedPayment }[]
  /** Payments not known before; the final ones among them are to be confirmed at once. */
  fresh: readonly ScannedPayment[]
  /** Deposits that have become final. */
  final: readonly string[]
}

/** What a scan changes. The final part of a scan is complete, so what it lacks is not on the chain. */
export function decideScan(known: readonly DepositScanRow[], { payments, position }: Scan): ScanDecision {
  const byKey = new Map(known.map((deposit) => [keyOf(deposit), deposit]))
  const matches = payments.map((payment) => ({ payment, deposit: byKey.get(keyOf(payment)) }))
  const same = matches.flatMap(({ payment, deposit }) =>
    deposit?.status === 'detected' && isSame(deposit, payment) ? [{ id: deposit.id, deposit, payment }] : [],
  )
  const held = new Set(same.map(({ id }) => id))
  // A reorganisation can give one transaction's transfers other log indexes; what was detected is then gone.
  const replaced = matches.flatMap(({ payment, deposit }) =>
    deposit?.status === 'detected' && !isSame(deposit, payment) ? [deposit.id] : [],
  )
  const missing = known.filter(
    ({ id, status, block }) => status === 'detected' && block <= position.finalHeight && !held.has(id),
  )
  return {
    vanished: [...new Set([...replaced, ...missing.map(({ id }) => id)])],
    moved: same
      .filter(({ deposit, payment }) => isElsewhere(deposit, payment))
      .map(({ id, payment }) => ({ id, payment })),
    fresh: matches
      .filter(({ deposit }) => deposit === undefined || replaced.includes(deposit.id))
      .map(({ payment }) => payment),
    final: same.filter(({ payment }) => payment.final).map(({ id }) => id),
  }
}

function keyOf({ transaction, index }: { transaction: string; index: string }): string {
  return `${transaction}/${index}`
}

function isSame(deposit: DepositScanRow, { address, asset, amount }: ScannedPayment): boolean {
  const code: AssetCode = deposit.contract ?? 'native'
  return deposit.address === address && code === assetCode(asset) && BigInt(deposit.amount) === amount
}

function isElsewhere({ block, block_hash }: DepositScanRow, payment: ScannedPayment): boolean {
  return block !== payment.block || block_hash !== payment.blockHash
}
