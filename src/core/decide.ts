import type { NetworkName } from './asset.ts'
import { type Approval, claimOf, type Dossier, divide } from './divide.ts'
import type { Observation, ServiceId, TransferRef } from './evidence.ts'
import type { ChainLeg } from './fold.ts'
import { deliveredLegs, liveLeg, total } from './matrix.ts'
import type { Mismatch } from './mismatch.ts'
import type { Policy } from './policy.ts'
import { type Journal, posting } from './posting.ts'
import { reconcile, type Verdict } from './reconcile.ts'

/** A deposit as the store knows it: its number, and what it was recognised by. */
export type KnownDeposit = {
  id: bigint
  serviceId: ServiceId | null
  transfer: TransferRef | null
  reconciledAt: Date | null
}

export type Group = {
  observations: readonly Observation[]
  approvals: readonly Approval[]
  known: readonly KnownDeposit[]
  booked: readonly Journal[]
}

export type Rules = {
  policy: Policy
  /** Addresses the service forwards from, as `network/address`; what they send to a recipient is a delivery. */
  senders: ReadonlySet<string>
}

export type DecidedDeposit = {
  /** Null for a deposit the store does not know yet. */
  id: bigint | null
  /** Known deposits that turned out to be this one. */
  absorbed: readonly bigint[]
  dossier: Dossier
  verdict: Verdict
  facts: Facts
  reconciledAt: Date | null
  journals: readonly Journal[]
}

export type Stray = { leg: ChainLeg; mismatch: Mismatch }

export type Decision = { deposits: readonly DecidedDeposit[]; strays: readonly Stray[] }

/** Decides one group of linked evidence: its deposits, what is wrong with them, and what is to be booked. */
export function decide(group: Group, { policy, senders }: Rules, now: Date): Decision {
  const { dossiers, strays } = divide(group.observations, group.approvals)
  const free = new Set(group.known)
  const deposits = dossiers.map((dossier): DecidedDeposit => {
    const [first, ...others] = [...free].filter((one) => isSame(one, dossier)).toSorted(byAge)
    for (const one of [first, ...others]) if (one) free.delete(one)
    const verdict = reconcile(dossier, policy, now)
    const booked = group.booked.filter((journal) => journal.transfer === dossier.deposit?.ref)
    return {
      id: first?.id ?? null,
      absorbed: others.map(({ id }) => id),
      dossier,
      verdict,
      facts: factsOf(dossier),
      reconciledAt: verdict.state === 'reconciled' ? (first?.reconciledAt ?? now) : null,
      journals: posting(dossier, verdict, booked),
    }
  })
  return { deposits, strays: strays.filter((leg) => isDelivery(leg, senders)).map(strayOf) }
}

/** What a deposit's row shows: the chain's word where it has one, the service's until then. */
export type Facts = {
  network: NetworkName | null
  address: string | null
  asset: string | null
  amount: bigint | null
  tx: string | null
  settlementNetwork: string | null
  settlementAddress: string | null
  settlementAsset: string | null
  settlementAmount: bigint | null
  settlementTx: string | null
  fee: bigint | null
}

function factsOf(dossier: Dossier): Facts {
  const claim = claimOf(dossier)
  const leg = dossier.deposit
  const payment = leg === null ? claim?.deposit : { ...leg, address: leg.to }
  return {
    network: payment?.network ?? null,
    address: payment?.address ?? null,
    asset: payment?.asset ?? null,
    amount: payment?.amount ?? null,
    tx: payment?.tx ?? null,
    ...settlementFacts(dossier),
  }
}

function settlementFacts(dossier: Dossier) {
  const stated = claimOf(dossier)?.settlement
  const legs = deliveredLegs(dossier)
  const [leg] = legs
  return {
    settlementNetwork: leg?.network ?? stated?.network ?? null,
    settlementAddress: leg?.to ?? stated?.address ?? null,
    settlementAsset: leg?.asset ?? stated?.asset ?? null,
    settlementAmount: leg === undefined ? (stated?.amount ?? null) : total(legs),
    settlementTx: leg?.tx ?? stated?.tx ?? null,
    fee: stated?.fee ?? null,
  }
}

function isSame(known: KnownDeposit, { serviceId, deposit }: Dossier): boolean {
  const sameId = serviceId !== null && known.serviceId === serviceId
  return sameId || (deposit !== null && known.transfer === deposit.ref)
}

function byAge(left: KnownDeposit, right: KnownDeposit): number {
  return left.id < right.id ? -1 : 1
}

function isDelivery(leg: ChainLeg, senders: ReadonlySet<string>): boolean {
  return liveLeg(leg)?.state === 'final' && leg.from !== null && senders.has(`${leg.network}/${leg.from}`)
}

function strayOf(leg: ChainLeg): Stray {
  const detail = { transfer: leg.ref, amount: leg.amount.toString(), recipient: leg.to }
  return { leg, mismatch: { kind: 'settlement_unreported', detail } }
}
