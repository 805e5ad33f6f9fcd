import type { SettlementClaim } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import { lossOf, type Mismatch } from '../mismatch.ts'
import type { Amount } from '../money.ts'
import type { FeeModel, Policy } from '../policy.ts'
import { apiSettlement, finishedDelivery, liveLeg } from './legs.ts'
import { feeExcess } from './losses.ts'

/** Whether the stated delivery arrived is checked separately. */
export function feeDiffers(evidence: DepositEvidence, { fee, line }: Policy): Mismatch | null {
  const settlement = finishedDelivery(evidence)
  if (settlement === null || fee.kind === 'stated') return null
  if (fee.kind === 'fixed') return fixedDiffers(fee, settlement, line)
  const kept = keptOf(evidence, settlement, fee)
  if (kept === null || isInBand(kept, fee)) return null
  return {
    kind: 'fee_out_of_band',
    detail: {
      kept: `${bpsText(kept)} bps`,
      allowed: bandText(fee),
      policy: line,
      ...kept.detail,
      asset: settlement.asset,
    },
    loss: lossOf(settlement.asset, feeExcess(kept, fee), settlement.amount ?? 0n),
  }
}

/** As the API states it; otherwise as the policy derives it from payment and delivery, if it accepts that. */
export function feeOf(evidence: DepositEvidence, { fee }: Policy): Amount | null {
  const settlement = apiSettlement(evidence)
  return settlement === null ? null : (settlement.fee ?? derivedFee(evidence, settlement, fee))
}

type Band = Extract<FeeModel, { kind: 'bps' | 'band' }>

/** `scaled` and `paid` are in one unit, small enough that amounts of both assets are whole numbers of it. */
type FeeRatio = {
  scaled: bigint
  paid: bigint
  detail: { paid: string; paidAsset: string; delivered: string }
}

function fixedDiffers(
  { amount }: Extract<FeeModel, { kind: 'fixed' }>,
  { fee, asset, amount: delivered }: SettlementClaim,
  policy: string,
): Mismatch | null {
  if (fee === null || fee === amount) return null
  const detail = { kept: fee.toString(), allowed: amount.toString(), asset, policy }
  return { kind: 'fee_out_of_band', detail, loss: lossOf(asset, fee - amount, delivered ?? 0n) }
}

function keptOf({ deposit }: DepositEvidence, { amount }: SettlementClaim, { units }: Band): FeeRatio | null {
  const leg = liveLeg(deposit)
  if (leg === null || amount === null) return null
  const paid = leg.amount * units.delivered
  const detail = { paid: leg.amount.toString(), paidAsset: leg.asset, delivered: amount.toString() }
  return { scaled: paid - amount * units.paid, paid, detail }
}

function derivedFee(evidence: DepositEvidence, settlement: SettlementClaim, fee: FeeModel): Amount | null {
  if (fee.kind === 'stated') return null
  return fee.kind === 'fixed' ? fee.amount : shareOf(keptOf(evidence, settlement, fee), fee)
}

/** Null if it is not whole base units of the delivered asset: nothing is rounded. */
function shareOf(kept: FeeRatio | null, fee: Band): Amount | null {
  if (kept === null || kept.scaled <= 0n || !isInBand(kept, fee)) return null
  const { paid: scale } = fee.units
  return kept.scaled % scale === 0n ? ((kept.scaled / scale) as Amount) : null
}

/** Accurate to one base unit of the coarser asset: a share of an amount is seldom whole. */
export function isInBand({ scaled, paid }: Pick<FeeRatio, 'scaled' | 'paid'>, fee: Band): boolean {
  const [low, high] = fee.kind === 'bps' ? [fee.bps, fee.bps] : [fee.lowBps, fee.highBps]
  const { paid: ofPaid, delivered: ofDelivered } = fee.units
  const slack = 10_000n * (ofPaid > ofDelivered ? ofPaid : ofDelivered)
  const kept = scaled * 10_000n
  return kept > paid * BigInt(low) - slack && kept < paid * BigInt(high) + slack
}

function bandText(fee: Band): string {
  return fee.kind === 'bps' ? `${fee.bps} bps` : `${fee.lowBps} to ${fee.highBps} bps`
}

/** Two decimal places, truncated. */
function bpsText({ scaled, paid }: FeeRatio): string {
  if (paid === 0n) return '0'
  const hundredths = (scaled * 1_000_000n) / paid
  const [sign, size] = hundredths < 0n ? ['-', -hundredths] : ['', hundredths]
  return `${sign}${size / 100n}.${(size % 100n).toString().padStart(2, '0')}`
}
