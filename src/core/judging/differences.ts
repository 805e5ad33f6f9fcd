import { ownerKey } from '../address-book.ts'
import type { AssetKey } from '../asset.ts'
import { type Claim, serviceOf } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import { claimOf, total } from '../matching/fold.ts'
import { type Loss, lossOf, type Mismatch, type MismatchKind } from '../mismatch.ts'
import { isTolerated, type Policy } from '../policy.ts'
import { feeDiffers } from './fee.ts'
import {
  approvedDestination,
  type DepositLeg,
  deliveredLegs,
  finishedDelivery,
  isOutsideValidity,
  liveLeg,
  networkConflictOf,
  unapprovedDestination,
} from './legs.ts'
import {
  claimedLoss,
  misdirectedLoss,
  owedLoss,
  paidLoss,
  sharedShortfallLoss,
  spreadLoss,
  wrongAssetLoss,
} from './losses.ts'
import { failureOf } from './named-transactions.ts'
import { findStateDifferences } from './state-differences.ts'

export function findDifferences(evidence: DepositEvidence, policy: Policy): Mismatch[] {
  return [
    amountDiffers(evidence),
    assetDiffers(evidence),
    deliveredDiffers(evidence, policy),
    feeDiffers(evidence, policy),
    networkDiffers(evidence, 'deposit') ?? networkDiffers(evidence, 'settlement'),
    transactionReused(evidence),
    matchAmbiguous(evidence),
    recipientDiffers(evidence),
    addressChanged(evidence),
    addressForeign(evidence) ?? addressNotValid(evidence) ?? addressUnknown(evidence),
    ownerUnknown(evidence),
    vanishedAfterFinality(evidence),
    transactionFailed(evidence),
    ...findStateDifferences(evidence, policy),
  ].filter((mismatch) => mismatch !== null)
}

function amountDiffers({ webhook, api, deposit }: DepositEvidence): Mismatch | null {
  return (
    amountContradiction({ chain: liveLeg(deposit), webhook: webhook?.deposit, api: api?.deposit }) ??
    amountContradiction({ settlementWebhook: settledOf(webhook), settlementApi: settledOf(api) })
  )
}

/** Not reported if the networks differ: one cause is reported once. */
function assetDiffers(evidence: DepositEvidence): Mismatch | null {
  const isApart = (leg: DepositLeg) => networkConflictOf(evidence, leg) !== null
  const paid = isApart('deposit') ? null : paidAssetDiffers(evidence)
  return paid ?? (isApart('settlement') ? null : deliveredAssetDiffers(evidence))
}

function paidAssetDiffers({ webhook, api, deposit }: DepositEvidence): Mismatch | null {
  const shown = liveLeg(deposit)?.asset
  const stated = { webhook: webhook?.deposit.asset, api: api?.deposit.asset, chain: shown }
  return contradiction('asset_mismatch', stated, {
    loss: wrongAssetLoss([api?.deposit, webhook?.deposit], shown),
  })
}

function deliveredAssetDiffers({ webhook, api, settlements }: DepositEvidence): Mismatch | null {
  const [settlementWebhook, settlementApi] = [webhook?.settlement?.asset, api?.settlement?.asset]
  const shown = settlements.filter((leg) => leg.state !== 'orphaned').map(({ asset }) => asset)
  const other = shown.find((asset) => asset !== (settlementApi ?? settlementWebhook))
  const settlementChain = other ?? shown[0]
  const loss = wrongAssetLoss([api?.settlement, webhook?.settlement], settlementChain)
  return contradiction('asset_mismatch', { settlementWebhook, settlementApi, settlementChain }, { loss })
}

/** Before a delivery is finished, more may come. Amounts of different assets are not compared. */
function deliveredDiffers(evidence: DepositEvidence, policy: Policy): Mismatch | null {
  const legs = deliveredLegs(evidence)
  const finished = finishedDelivery(evidence)
  if (finished === null || finished.amount === null || legs.length === 0) return null
  const { asset, amount: stated } = finished
  const delivered = total(legs)
  const isOther = legs.some((leg) => leg.asset !== asset)
  if (isOther || isTolerated(delivered, stated, policy)) return null
  const detail = { stated: stated.toString(), delivered: delivered.toString(), asset }
  const loss = lossOf(asset, stated - delivered, stated)
  if (isShifted([stated, delivered])) return { kind: 'decimals_mismatch', detail, loss }
  return { kind: loss === null ? 'settlement_over' : 'settlement_short', detail, loss }
}

function recipientDiffers(evidence: DepositEvidence): Mismatch | null {
  const other = unapprovedDestination(evidence)
  const approved = approvedDestination(evidence)
  if (!other || !approved) return null
  return {
    kind: 'recipient_mismatch',
    detail: {
      approved: `${approved.network}/${approved.address}`,
      stated: `${other.network}/${other.address}`,
    },
    loss: misdirectedLoss(evidence),
  }
}

function addressChanged({ addressConflict }: DepositEvidence): Mismatch | null {
  if (addressConflict === null) return null
  const { owner, network, stated, approved } = addressConflict
  const detail = { owner: ownerKey(owner), network, approved: approved ?? 'none', address: stated }
  return { kind: 'address_changed', detail, loss: null }
}

function addressForeign({ foreign, serviceId }: DepositEvidence): Mismatch | null {
  if (foreign === null || serviceId === null) return null
  const { network, address, owner } = foreign
  const detail = { network, address, owner: ownerKey(owner), service: serviceOf(serviceId) }
  return { kind: 'service_mismatch', detail, loss: null }
}

/** Reported or not. */
function addressNotValid(evidence: DepositEvidence): Mismatch | null {
  const { approval, deposit } = evidence
  if (approval === null || deposit === null || !isOutsideValidity(evidence)) return null
  const { network, address, owner, startsAt, endsAt } = approval
  const detail = {
    network,
    address,
    owner: ownerKey(owner),
    block: deposit.blockAt.toISOString(),
    ...(startsAt && { from: startsAt.toISOString() }),
    ...(endsAt && { until: endsAt.toISOString() }),
  }
  return { kind: 'unknown_address', detail, loss: null }
}

/** An address stated for an owner of ours is reported as changed instead. */
function addressUnknown({ webhook, api, approval, addressConflict }: DepositEvidence): Mismatch | null {
  const claim = api ?? webhook
  if (approval !== null || claim === null || addressConflict !== null) return null
  return {
    kind: 'unknown_address',
    detail: { network: claim.deposit.network, address: claim.deposit.address },
    loss: null,
  }
}

/** For a known address. Otherwise the address is reported instead. */
function ownerUnknown({ unknownOwner, approval }: DepositEvidence): Mismatch | null {
  if (unknownOwner === null || approval === null) return null
  const detail = { stated: ownerKey(unknownOwner), approved: ownerKey(approval.owner) }
  return { kind: 'unknown_owner', detail, loss: null }
}

function vanishedAfterFinality(evidence: DepositEvidence): Mismatch | null {
  const { deposit } = evidence
  if (deposit?.state !== 'orphaned' || deposit.finalAt === null) return null
  const detail = { transfer: deposit.ref, block: deposit.blockHash }
  return { kind: 'orphaned_after_booking', detail, loss: paidLoss(evidence) }
}

/** A failure that the service itself reports contradicts nothing. */
function transactionFailed(evidence: DepositEvidence): Mismatch | null {
  if (claimOf(evidence)?.status === 'failed') return null
  const failure = failureOf(evidence, 'deposit') ?? failureOf(evidence, 'recipient')
  if (failure === null) return null
  const { network, tx, height, role } = failure
  const leg = role === 'deposit' ? 'deposit' : 'settlement'
  const detail = { leg, transaction: `${network}/${tx}`, height: height.toString() }
  return { kind: 'tx_failed', detail, loss: leg === 'deposit' ? claimedLoss(evidence) : owedLoss(evidence) }
}

type SourceAmount = { asset: AssetKey; amount: bigint }

/** Within one asset only. */
function amountContradiction(stated: Record<string, SourceAmount | null | undefined>): Mismatch | null {
  const all = Object.entries(stated).filter((entry): entry is [string, SourceAmount] => !!entry[1])
  const perAsset = [...Map.groupBy(all, ([, { asset }]) => asset)]
  const [first = null] = perAsset.flatMap(([asset, alike]) => contradictionWithin(asset, alike) ?? [])
  return first
}

/** Amounts that differ only in trailing zeros are most likely one amount in other decimals. */
function contradictionWithin(asset: AssetKey, stated: readonly [string, SourceAmount][]): Mismatch | null {
  const amounts = stated.map(([, { amount }]) => amount)
  const statements = Object.fromEntries(stated.map(([source, { amount }]) => [source, amount.toString()]))
  const about = { asset }
  return isShifted(amounts)
    ? contradiction('decimals_mismatch', statements, { about })
    : contradiction('amount_mismatch', statements, { about, loss: spreadLoss(asset, amounts) })
}

/** One amount times powers of ten. */
function isShifted(amounts: readonly bigint[]): boolean {
  return new Set(amounts.map((amount) => amount.toString().replace(/0+$/, ''))).size === 1
}

function settledOf(claim: Claim | null): SourceAmount | null {
  const settled = claim?.status === 'settled' ? claim.settlement : null
  return settled && settled.amount !== null ? { asset: settled.asset, amount: settled.amount } : null
}

function networkDiffers(evidence: DepositEvidence, leg: DepositLeg): Mismatch | null {
  const found = networkConflictOf(evidence, leg)
  if (found === null) return null
  const { tx, ...named } = found
  return contradiction('network_mismatch', named, {
    about: { leg, ...(tx === null ? {} : { transaction: tx }) },
  })
}

function transactionReused(evidence: DepositEvidence): Mismatch | null {
  const { reuse } = evidence
  if (reuse === null) return null
  const detail = { transfer: reuse.transfer, deposit: reuse.serviceId }
  return { kind: 'tx_reused', detail, loss: claimedLoss(evidence) }
}

function matchAmbiguous({ ambiguity, serviceId }: DepositEvidence): Mismatch | null {
  if (ambiguity === null) return null
  const { stated, delivered, asset, deposits, transfers } = ambiguity
  return {
    kind: 'ambiguous_match',
    detail: {
      stated: stated?.toString() ?? 'incomplete amounts',
      delivered: delivered.toString(),
      deposits: listed(deposits),
      transfers: listed(transfers),
      ...(asset !== null && { asset }),
    },
    loss: sharedShortfallLoss(ambiguity, serviceId),
  }
}

const listedMax = 10

function listed(all: readonly string[]): string {
  const more = all.length - listedMax
  const shown = all.slice(0, listedMax).join(', ')
  return more > 0 ? `${shown} and ${more} more` : shown
}

/** `detail` names the subject first, then the value of each source. */
function contradiction(
  kind: MismatchKind,
  statements: Record<string, string | undefined>,
  { about = {}, loss = null }: { about?: Record<string, string>; loss?: Loss | null } = {},
): Mismatch | null {
  const stated = Object.entries(statements).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  const isAgreed = new Set(stated.map(([, value]) => value)).size < 2
  return isAgreed ? null : { kind, detail: { ...about, ...Object.fromEntries(stated) }, loss }
}
