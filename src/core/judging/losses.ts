import type { AssetKey } from '../asset.ts'
import type { ServiceId } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import { claimOf, total } from '../matching/fold.ts'
import type { DeliveryAmbiguity } from '../matching/settle-contest.ts'
import { type Loss, lossOf } from '../mismatch.ts'
import type { FeeModel } from '../policy.ts'
import { apiSettlement, deliveredLegs, isElsewhere, liveLeg } from './legs.ts'

/** The stated delivery, or else the payment, minus what arrived. */
export function owedLoss(evidence: DepositEvidence): Loss | null {
  const due = statedDelivery(evidence) ?? liveLeg(evidence.deposit)
  return due && lossOf(due.asset, due.amount - arrivedOf(evidence, due.asset), due.amount)
}

export function paidLoss({ deposit }: DepositEvidence): Loss | null {
  return deposit && lossOf(deposit.asset, deposit.amount)
}

export function claimedLoss(evidence: DepositEvidence): Loss | null {
  const paid = claimOf(evidence)?.deposit
  return paid ? lossOf(paid.asset, paid.amount) : null
}

/** The amount that went to another address; until a chain shows it, the amount still owed. */
export function misdirectedLoss(evidence: DepositEvidence): Loss | null {
  const gone = evidence.settlements.filter(
    (leg) => leg.state !== 'orphaned' && isElsewhere({ ...leg, address: leg.to }, evidence),
  )
  const [first] = gone
  if (first === undefined) return owedLoss(evidence)
  const amount = total(gone.filter(({ asset }) => asset === first.asset))
  const stated = statedDelivery(evidence)
  return lossOf(first.asset, amount, stated?.asset === first.asset ? stated.amount : amount)
}

type StatedAmount = { asset: AssetKey; amount: bigint | null }

/** Stated in an asset that the chain does not show; without a chain transfer, the first stated amount. */
export function wrongAssetLoss(
  stated: readonly (StatedAmount | null | undefined)[],
  shown?: AssetKey,
): Loss | null {
  const wrong = stated.find((one) => one && one.asset !== shown)
  return wrong?.amount ? lossOf(wrong.asset, wrong.amount) : null
}

/** The largest minus the smallest stated amount. */
export function spreadLoss(asset: AssetKey, amounts: readonly bigint[]): Loss | null {
  const largest = amounts.reduce(greater)
  return lossOf(asset, largest - amounts.reduce(lesser), largest)
}

/** Only the first of several deposits carries it, so that it counts once. */
export function sharedShortfallLoss(
  { stated, delivered, asset, deposits }: DeliveryAmbiguity,
  serviceId: ServiceId | null,
): Loss | null {
  if (deposits[0] !== serviceId || asset === null || stated === null) return null
  return lossOf(asset, stated - delivered, stated)
}

/** Beyond the allowed band, in whole base units of the delivered asset. */
export function feeExcess(
  { scaled, paid }: { scaled: bigint; paid: bigint },
  fee: Extract<FeeModel, { kind: 'bps' | 'band' }>,
): bigint {
  const allowed = paid * BigInt(fee.kind === 'bps' ? fee.bps : fee.highBps)
  return (scaled * 10_000n - allowed) / (10_000n * fee.units.paid)
}

function statedDelivery(evidence: DepositEvidence): { asset: AssetKey; amount: bigint } | null {
  const stated = apiSettlement(evidence) ?? evidence.webhook?.settlement
  return stated && stated.amount !== null ? { asset: stated.asset, amount: stated.amount } : null
}

function arrivedOf(evidence: DepositEvidence, asset: AssetKey): bigint {
  return total(deliveredLegs(evidence).filter((leg) => leg.asset === asset))
}

function lesser(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

function greater(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}
