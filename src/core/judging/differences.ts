import { ownerText } from '../address-book.ts'
import type { Claim } from '../evidence.ts'
import type { Dossier } from '../matching/divide.ts'
import { claimOf } from '../matching/fold.ts'
import type { Mismatch } from '../mismatch.ts'
import type { Policy } from '../policy.ts'
import { contradiction } from './contradiction.ts'
import { feeDiffers } from './fee.ts'
import { finishedDelivery } from './finished-delivery.ts'
import { findIdentityDifferences } from './identity.ts'
import { approvedPlace, deliveredLegs, type Leg, liveLeg, otherPlace, total } from './matrix.ts'
import { failureOf } from './named-transactions.ts'
import { otherNetworkOf } from './other-network.ts'
import { findStateDifferences } from './state-differences.ts'
import { isTolerated } from './tolerance.ts'

/** What the sources contradict each other in, whatever the time is. */
export function findDifferences(dossier: Dossier, policy: Policy): Mismatch[] {
  const found = [
    amountDiffers(dossier),
    assetDiffers(dossier),
    deliveredDiffers(dossier, policy),
    feeDiffers(dossier, policy),
    ...findIdentityDifferences(dossier),
    recipientDiffers(dossier),
    addressChanged(dossier),
    addressUnknown(dossier),
    ownerUnknown(dossier),
    vanishedAfterFinality(dossier),
    transactionFailed(dossier),
    ...findStateDifferences(dossier, policy),
  ].filter((mismatch) => mismatch !== null)
  // Both legs may have the wrong decimals.
  return found.filter(({ kind }, place) => found.findIndex((one) => one.kind === kind) === place)
}

function amountDiffers(dossier: Dossier): Mismatch | null {
  const leg = liveLeg(dossier.deposit)
  return (
    amountContradiction({
      webhook: dossier.webhook?.deposit.amount.toString(),
      api: dossier.api?.deposit.amount.toString(),
      chain: leg?.amount.toString(),
    }) ??
    amountContradiction({
      settlementWebhook: settledAmount(dossier.webhook),
      settlementApi: settledAmount(dossier.api),
    })
  )
}

/** Assets are of their networks: where those differ, that is a mismatch of its own, and one cause is told once. */
function assetDiffers(dossier: Dossier): Mismatch | null {
  const isApart = (leg: Leg) => otherNetworkOf(dossier, leg) !== null
  const paid = isApart('deposit') ? null : paidAssetDiffers(dossier)
  return paid ?? (isApart('settlement') ? null : deliveredAssetDiffers(dossier))
}

function paidAssetDiffers({ webhook, api, deposit }: Dossier): Mismatch | null {
  return contradiction('asset_mismatch', {
    webhook: webhook?.deposit.asset,
    api: api?.deposit.asset,
    chain: liveLeg(deposit)?.asset,
  })
}

/** Of several deliveries, the first that is of another asset than stated. */
function deliveredAssetDiffers({ webhook, api, settlements }: Dossier): Mismatch | null {
  const [settlementWebhook, settlementApi] = [webhook?.settlement?.asset, api?.settlement?.asset]
  const shown = settlements.filter((leg) => leg.state !== 'orphaned').map(({ asset }) => asset)
  const other = shown.find((asset) => asset !== (settlementApi ?? settlementWebhook))
  const settlementChain = other ?? shown[0]
  return contradiction('asset_mismatch', { settlementWebhook, settlementApi, settlementChain })
}

/** Only a finished delivery can be short: until then more may come. */
function deliveredDiffers(dossier: Dossier, policy: Policy): Mismatch | null {
  const legs = deliveredLegs(dossier)
  const delivered = total(legs)
  const stated = finishedDelivery(dossier)?.amount ?? null
  if (legs.length === 0 || stated === null || isTolerated(delivered, stated, policy)) return null
  const detail = { stated: stated.toString(), delivered: delivered.toString() }
  if (isShifted(Object.values(detail))) return { kind: 'decimals_mismatch', detail }
  return { kind: delivered < stated ? 'settlement_short' : 'settlement_over', detail }
}

function recipientDiffers(dossier: Dossier): Mismatch | null {
  const other = otherPlace(dossier)
  const approved = approvedPlace(dossier)
  if (!other || !approved) return null
  return {
    kind: 'recipient_mismatch',
    detail: {
      approved: `${approved.network}/${approved.address}`,
      stated: `${other.network}/${other.address}`,
    },
  }
}

function addressChanged({ stranger }: Dossier): Mismatch | null {
  if (stranger === null) return null
  const { owner, network, stated, kept } = stranger
  const detail = { owner: ownerText(owner), network, approved: kept ?? 'none', address: stated }
  return { kind: 'address_changed', detail }
}

/** An address that belongs to nobody; one that is stated for an owner of ours is told of as changed. */
function addressUnknown({ webhook, api, approval, stranger }: Dossier): Mismatch | null {
  const claim = api ?? webhook
  if (approval !== null || claim === null || stranger !== null) return null
  return {
    kind: 'unknown_address',
    detail: { network: claim.deposit.network, address: claim.deposit.address },
  }
}

/** Somebody whom the book does not have, for an address that it has; where it has neither, the address is told of. */
function ownerUnknown({ unknownOwner, approval }: Dossier): Mismatch | null {
  if (unknownOwner === null || approval === null) return null
  const detail = { stated: ownerText(unknownOwner), approved: ownerText(approval.owner) }
  return { kind: 'unknown_owner', detail }
}

function vanishedAfterFinality({ deposit }: Dossier): Mismatch | null {
  if (deposit?.state !== 'orphaned' || deposit.finalAt === null) return null
  return { kind: 'orphaned_after_booking', detail: { transfer: deposit.ref, block: deposit.blockHash } }
}

/** What the service itself calls failed contradicts nothing. */
function transactionFailed(dossier: Dossier): Mismatch | null {
  if (claimOf(dossier)?.status === 'failed') return null
  const failure = failureOf(dossier, 'deposit') ?? failureOf(dossier, 'recipient')
  if (failure === null) return null
  const { network, tx, height, role } = failure
  const leg = role === 'deposit' ? 'deposit' : 'settlement'
  return { kind: 'tx_failed', detail: { leg, transaction: `${network}/${tx}`, height: height.toString() } }
}

/** Amounts that differ by nothing but zeros at their end are most likely the same one, in other decimals. */
function amountContradiction(said: Record<string, string | undefined>): Mismatch | null {
  const found = contradiction('amount_mismatch', said)
  return found && isShifted(Object.values(found.detail)) ? { ...found, kind: 'decimals_mismatch' } : found
}

/** Whether amounts, in base units, are one amount times powers of ten. */
function isShifted(amounts: readonly string[]): boolean {
  return new Set(amounts.map((amount) => amount.replace(/0+$/, ''))).size === 1
}

function settledAmount(claim: Claim | null): string | undefined {
  return claim?.status === 'settled' ? claim.settlement?.amount?.toString() : undefined
}
