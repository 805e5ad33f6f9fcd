import type { Address, NetworkName, TxId } from '../asset.ts'
import { type ClaimStatus, deliveryTxs, type SettlementClaim, stableWalletNetwork } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import { type ChainLeg, claimOf, total } from '../matching/fold.ts'
import { isTolerated, type Policy } from '../policy.ts'

export type DepositLeg = 'deposit' | 'settlement'

/**
 * A StableWallet is credited in the service's own books, on no chain. If the address book has no owner, the delivery
 * that the service states decides.
 */
export function isCredited({ approval, ...claims }: DepositEvidence): boolean {
  if (approval !== null) return approval.owner.kind === 'stable_wallet'
  const owner = claims.api?.owner ?? claims.webhook?.owner
  return owner?.kind === 'stable_wallet' || claimOf(claims)?.settlement?.network === stableWalletNetwork
}

/** Null if the block that held it is gone. */
export function liveLeg(leg: ChainLeg | null): ChainLeg | null {
  return leg === null || leg.state === 'orphaned' ? null : leg
}

export function deliveredLegs(evidence: DepositEvidence): ChainLeg[] {
  return evidence.settlements.filter(
    (leg) => leg.state === 'final' && !isElsewhere({ ...leg, address: leg.to }, evidence),
  )
}

/** The block that paid the address is from before or after its validity. */
export function isOutsideValidity({ approval, deposit }: DepositEvidence): boolean {
  const leg = liveLeg(deposit)
  if (approval === null || leg === null) return false
  const { startsAt = null, endsAt = null } = approval
  return (startsAt !== null && leg.blockAt < startsAt) || (endsAt !== null && leg.blockAt >= endsAt)
}

export type Destination = { network: NetworkName; address: Address }

export function approvedDestination({ approval }: DepositEvidence): Destination | null {
  if (approval === null) return null
  const { forward, owner } = approval
  return forward === null
    ? { network: stableWalletNetwork, address: owner.id as Address }
    : { network: forward.network, address: forward.recipient }
}

export function isElsewhere({ network, address }: Destination, evidence: DepositEvidence): boolean {
  const approved = approvedDestination(evidence)
  return approved !== null && (approved.network !== network || approved.address !== address)
}

/** Shown by a chain, or stated while no chain shows that transaction. */
export function unapprovedDestination(evidence: DepositEvidence): Destination | null {
  const conflict = networkConflictOf(evidence, 'settlement')
  const shownTx = conflict?.chain === undefined ? null : conflict.tx
  const stated = [evidence.api, evidence.webhook]
    .flatMap((claim) => claim?.settlement ?? [])
    .filter((settlement) => shownTx === null || !deliveryTxs(settlement).includes(shownTx))
  const shown = evidence.settlements.map((leg) => ({ network: leg.network, address: leg.to }))
  return [...shown, ...stated].find((destination) => isElsewhere(destination, evidence)) ?? null
}

type NetworkConflict = {
  /** As the chain shows it, or else as the service names it. */
  tx: TxId | null
  webhook: NetworkName | undefined
  api: NetworkName | undefined
  /** Undefined while no chain shows it. */
  chain: NetworkName | undefined
}

/**
 * Null if all sources agree on the network. A transaction id is unique within a family, so it names the same
 * transaction on any of its networks.
 */
export function networkConflictOf(evidence: DepositEvidence, leg: DepositLeg): NetworkConflict | null {
  const [webhook, api] = [evidence.webhook, evidence.api].map((claim) => claim?.[leg]?.network)
  const stated = [webhook, api].filter((network) => network !== undefined)
  const legs = leg === 'settlement' ? evidence.settlements : [evidence.deposit]
  const live = legs.flatMap((one) => liveLeg(one) ?? [])
  // Prefer a delivery on another network than stated.
  const shown = live.find(({ network }) => network !== stated[0]) ?? live[0]
  if (new Set([...stated, ...(shown ? [shown.network] : [])]).size < 2) return null
  const tx = shown ? shown.tx : (claimOf(evidence)?.[leg]?.tx ?? null)
  return { tx, webhook, api, chain: shown?.network }
}

/** Null until the service calls the deposit settled. The API takes precedence. */
export function finishedDelivery({ api, webhook }: Pick<DepositEvidence, 'api' | 'webhook'>) {
  return [api, webhook].find((one) => one?.status === 'settled')?.settlement ?? null
}

/**
 * If the furthest claim states no amount, for example a later "refunded", the amount stated last applies. A fee without
 * an amount still applies.
 */
export function apiSettlement({
  api,
  claims,
}: Pick<DepositEvidence, 'api' | 'claims'>): SettlementClaim | null {
  const settlements = [api, ...claims.api.toReversed()].flatMap((claim) => claim?.settlement ?? [])
  const [furthest] = settlements
  if (furthest === undefined || furthest.amount !== null) return furthest ?? null
  const stated = settlements.find(({ amount }) => amount !== null) ?? furthest
  return { ...stated, fee: stated.fee ?? settlements.find(({ fee }) => fee !== null)?.fee ?? null }
}

/** After these statuses the service delivers nothing more. */
const finalStatuses: ReadonlySet<ClaimStatus> = new Set(['settled', 'refunded', 'failed'])

/**
 * Negative if it is more; 0 until the API reports its end, or if the policy does not accept the difference. In base
 * units of the delivered asset. Nothing is booked from a webhook's statement.
 */
export function toleratedShortfall(evidence: DepositEvidence, policy: Policy): bigint {
  const legs = deliveredLegs(evidence)
  const { amount, asset } = apiSettlement(evidence) ?? {}
  const isOver = evidence.api !== null && finalStatuses.has(evidence.api.status)
  if (!isOver || !amount || legs.length === 0 || legs.some((leg) => leg.asset !== asset)) return 0n
  return isTolerated(total(legs), amount, policy) ? amount - total(legs) : 0n
}
