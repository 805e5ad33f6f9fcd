import type { AssetKey } from '../asset.ts'
import type { Claim } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import { type ChainLeg, total } from '../matching/fold.ts'
import { isTolerated, type Policy, type RequiredCell } from '../policy.ts'
import { type DepositLeg, deliveredLegs, isCredited, isElsewhere, liveLeg } from './legs.ts'

export const evidenceSources = ['webhook', 'api', 'chain'] as const
export type EvidenceSource = (typeof evidenceSources)[number]

/**
 * `present`: the evidence to prove or refute it is missing. Claims that deviate from a final transfer differ; the chain
 * differs only if it went to another address than approved.
 */
export const matrixCells = ['absent', 'present', 'agrees', 'differs', 'not_applicable'] as const
export type Cell = (typeof matrixCells)[number]

export type Matrix = Record<DepositLeg, Record<EvidenceSource, Cell>>

export function cellPath(name: RequiredCell): [DepositLeg, EvidenceSource] {
  return name.split('.') as [DepositLeg, EvidenceSource]
}

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

function depositCell(claim: Claim | null, leg: ChainLeg | null): Cell {
  if (claim === null) return 'absent'
  if (leg === null) return 'present'
  const { network, asset, amount, address } = claim.deposit
  const isSameAddress = network === leg.network && address === leg.to
  return isSameAddress && asset === leg.asset && amount === leg.amount ? 'agrees' : 'differs'
}

function depositChainCell({ webhook, api }: DepositEvidence, leg: ChainLeg | null): Cell {
  if (leg === null) return 'absent'
  return leg.state !== 'final' || (webhook === null && api === null) ? 'present' : 'agrees'
}

function settlementCell(claim: Claim | null, evidence: DepositEvidence, policy: Policy): Cell {
  const settlement = claim?.settlement
  const isFinished = claim?.status === 'settled'
  const isUnderWay = isFinished || claim?.status === 'settling'
  if (!settlement || settlement.amount === null || !isUnderWay) return 'absent'
  if (isElsewhere(settlement, evidence)) return 'differs'
  const stated = { asset: settlement.asset, amount: settlement.amount, isFinished }
  return isCredited(evidence)
    ? creditCell(stated, evidence)
    : deliveryCell(stated, deliveredLegs(evidence), policy)
}

type StatedDelivery = { asset: AssetKey; amount: bigint; isFinished: boolean }

function deliveryCell(
  { asset, amount, isFinished }: StatedDelivery,
  legs: readonly ChainLeg[],
  policy: Policy,
): Cell {
  if (legs.length === 0 || (!isFinished && total(legs) < amount)) return 'present'
  const isSame = legs.every((leg) => leg.asset === asset) && isTolerated(total(legs), amount, policy)
  if (!isSame) return 'differs'
  return isFinished ? 'agrees' : 'present'
}

/** The API's record proves a credit. */
function creditCell({ asset, amount, isFinished }: StatedDelivery, { api }: DepositEvidence): Cell {
  if (!isFinished || api?.status !== 'settled') return 'present'
  const isSame = asset === api.settlement?.asset && amount === api.settlement?.amount
  return isSame ? 'agrees' : 'differs'
}

function settlementChainCell(evidence: DepositEvidence): Cell {
  if (isCredited(evidence)) return 'not_applicable'
  const live = evidence.settlements.filter((leg) => liveLeg(leg) !== null)
  if (live.length === 0) return evidence.ambiguity === null ? 'absent' : 'present'
  if (live.some((leg) => isElsewhere({ ...leg, address: leg.to }, evidence))) return 'differs'
  return deliveredLegs(evidence).length === 0 ? 'present' : 'agrees'
}
