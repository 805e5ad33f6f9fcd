import type { Address, NetworkName } from '../asset.ts'
import { type Claim, stableWalletNetwork } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import type { ChainLeg } from '../matching/fold.ts'
import { isTolerated, type Policy } from '../policy.ts'
import { otherNetworkOf } from './other-network.ts'

export type EvidenceSource = 'webhook' | 'api' | 'chain'

/**
 * `present`: the source states this leg, and the evidence to prove or refute it is still missing. A final transfer is
 * the proof: claims that deviate from it differ. The chain differs only if the transfer went to another address than
 * approved.
 */
export type Cell = 'absent' | 'present' | 'agrees' | 'differs' | 'not_applicable'

export type DepositLeg = 'deposit' | 'settlement'

/** Three sources by two legs. */
export type Matrix = Record<DepositLeg, Record<EvidenceSource, Cell>>

export function matrixOf(evidence: DepositEvidence, policy: Policy): Matrix {
  const deposit = liveLeg(evidence.deposit)
  return {
    deposit: {
      webhook: depositCell(evidence.webhook, deposit),
      api: depositCell(evidence.api, deposit),
      chain: depositChainCell(evidence, deposit),
    },
    settlement: {
      webhook: settlementCell(evidence.webhook, evidence, policy),
      api: settlementCell(evidence.api, evidence, policy),
      chain: settlementChainCell(evidence),
    },
  }
}

/** A deposit to a StableWallet is settled by a credit in the service's own books, which is on no chain. */
export function isCredited({ approval, api, webhook }: DepositEvidence): boolean {
  const owner = approval?.owner ?? api?.owner ?? webhook?.owner
  return owner?.kind === 'stable_wallet'
}

/** The transfer, unless the block that held it is gone. */
export function liveLeg(leg: ChainLeg | null): ChainLeg | null {
  return leg === null || leg.state === 'orphaned' ? null : leg
}

/** Final transfers to the approved recipient. */
export function deliveredLegs(evidence: DepositEvidence): ChainLeg[] {
  return evidence.settlements.filter(
    (leg) => leg.state === 'final' && !isElsewhere({ ...leg, address: leg.to }, evidence),
  )
}

export function total(legs: readonly ChainLeg[]): bigint {
  return legs.reduce((sum, leg) => sum + leg.amount, 0n)
}

function depositCell(claim: Claim | null, leg: ChainLeg | null): Cell {
  if (claim === null) return 'absent'
  if (leg === null) return 'present'
  const { network, asset, amount, address } = claim.deposit
  const isPlace = network === leg.network && address === leg.to
  return isPlace && asset === leg.asset && amount === leg.amount ? 'agrees' : 'differs'
}

function depositChainCell({ webhook, api }: DepositEvidence, leg: ChainLeg | null): Cell {
  if (leg === null) return 'absent'
  return leg.state !== 'final' || (webhook === null && api === null) ? 'present' : 'agrees'
}

function settlementCell(claim: Claim | null, evidence: DepositEvidence, policy: Policy): Cell {
  const settlement = claim?.settlement
  if (!settlement || settlement.amount === null || !isUnderWay(claim)) return 'absent'
  if (isElsewhere(settlement, evidence)) return 'differs'
  return isCredited(evidence)
    ? creditCell(claim, evidence)
    : deliveryCell(claim, deliveredLegs(evidence), policy)
}

function deliveryCell({ settlement, status }: Claim, legs: readonly ChainLeg[], policy: Policy): Cell {
  const isFinished = status === 'settled'
  const stated = settlement?.amount ?? 0n
  if (legs.length === 0 || (!isFinished && total(legs) < stated)) return 'present'
  const isSame =
    legs.every((leg) => leg.asset === settlement?.asset) && isTolerated(total(legs), stated, policy)
  if (!isSame) return 'differs'
  return isFinished ? 'agrees' : 'present'
}

type DeliveryAddress = { network: NetworkName; address: Address }

/** The approved destination of the deposit: the forward recipient, or the StableWallet that was paid. */
export function approvedPlace({ approval }: DepositEvidence): DeliveryAddress | null {
  if (approval === null) return null
  const { forward, owner } = approval
  return forward === null
    ? { network: stableWalletNetwork, address: owner.id as Address }
    : { network: forward.network, address: forward.recipient }
}

export function isElsewhere({ network, address }: DeliveryAddress, evidence: DepositEvidence): boolean {
  const approved = approvedPlace(evidence)
  return approved !== null && (approved.network !== network || approved.address !== address)
}

/** A destination other than the approved one: shown by a chain, or stated while no chain shows that transaction. */
export function otherPlace(evidence: DepositEvidence): DeliveryAddress | null {
  const apart = otherNetworkOf(evidence, 'settlement')
  const shown = apart?.chain === undefined ? null : apart.tx
  const said = [evidence.api, evidence.webhook]
    .flatMap((claim) => claim?.settlement ?? [])
    .filter(({ tx }) => tx === null || tx !== shown)
  const paid = evidence.settlements.map((leg) => ({ network: leg.network, address: leg.to }))
  return [...paid, ...said].find((place) => isElsewhere(place, evidence)) ?? null
}

/** The API's record proves a credit; the webhook is compared with it. */
function creditCell(claim: Claim, { api }: DepositEvidence): Cell {
  if (claim.status !== 'settled') return 'present'
  if (api?.status !== 'settled') return 'present'
  const [one, other] = [claim.settlement, api.settlement]
  return one?.asset === other?.asset && one?.amount === other?.amount ? 'agrees' : 'differs'
}

function settlementChainCell(evidence: DepositEvidence): Cell {
  if (isCredited(evidence)) return 'not_applicable'
  const live = evidence.settlements.filter((leg) => leg.state !== 'orphaned')
  if (live.length === 0) return evidence.ambiguity === null ? 'absent' : 'present'
  if (live.some((leg) => isElsewhere({ ...leg, address: leg.to }, evidence))) return 'differs'
  return deliveredLegs(evidence).length === 0 ? 'present' : 'agrees'
}

function isUnderWay({ status }: Claim): boolean {
  return status === 'settling' || status === 'settled'
}
