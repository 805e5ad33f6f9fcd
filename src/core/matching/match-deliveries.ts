import type { TxId } from '../asset.ts'
import { deliveryTxs, type ServiceId, type SettlementClaim } from '../evidence.ts'
import type { Amount } from '../money.ts'
import type { DecidedLink, DecisionLookup } from './decisions.ts'
import { type ChainLeg, type ClaimHistory, compareLegs, total } from './fold.ts'
import { type LinkRule, linkOf, type TransferLink } from './link.ts'
import type { Payments } from './match-payments.ts'
import {
  type Basis,
  type Contest,
  type ContestOutcome,
  claimHistoriesOf,
  contestsOf,
  type DeliveryAmbiguity,
  legsOf,
  settleContest,
  statedAmount,
} from './settle-contest.ts'

export type DeliveryLeg = ChainLeg & {
  /** Amount of the whole transfer; `amount` is this deposit's share. */
  whole: Amount
}

export type Deliveries = {
  byHistory: ReadonlyMap<ClaimHistory, readonly { leg: DeliveryLeg; link: TransferLink }[]>
  ambiguous: ReadonlyMap<ClaimHistory, DeliveryAmbiguity>
  /** Of these no history has, or may have, a share. */
  unmatchedDeliveries: readonly ChainLeg[]
}

type Tier = { rule: LinkRule; isFit: (leg: ChainLeg, named: SettlementClaim) => boolean }

/** What must agree besides the transaction, strongest first. */
const tiers: readonly Tier[] = [
  { rule: 'transaction and address', isFit: (leg, named) => isAt(leg, named) && leg.asset === named.asset },
  { rule: 'transaction and address', isFit: isAt },
  { rule: 'transaction', isFit: (leg, { network }) => leg.network === network },
  { rule: 'other network', isFit: () => true },
]

/** Orphaned transfers come last. */
const passes = [false, true].flatMap((isGone) => tiers.map((tier) => ({ ...tier, isGone })))

/**
 * A history may have several transfers, and a transfer several histories. All transactions that the service ever named
 * count. Decisions and strong fits come first, across all histories; a matched history takes no part in weaker passes.
 * @param reused histories that claim another's payment
 */
export function matchDeliveries(
  { claimHistories, reused }: { claimHistories: readonly ClaimHistory[] } & Pick<Payments, 'reused'>,
  legs: readonly ChainLeg[],
  decisions: DecisionLookup,
): Deliveries {
  if (legs.length === 0) return { byHistory: new Map(), ambiguous: new Map(), unmatchedDeliveries: [] }
  const field = candidatesOf(claimHistories, legs, decisions)
  const state: DeliveryMatchState = {
    open: new Set(claimHistories),
    free: new Set(legs),
    byHistory: new Map(),
    ambiguous: new Map(),
    // Without a payment of its own, a history has nothing to deliver, unless a decision assigned it a delivery.
    doubtful: new Set([...reused.keys()].filter(({ serviceId }) => !field.ruled.has(serviceId))),
  }
  for (const pass of passes) {
    if (state.free.size === 0) break
    const isHere = (leg: ChainLeg) => state.free.has(leg) && (leg.state === 'orphaned') === pass.isGone
    const contest = new Map(
      [...state.open].map((claimHistory) => [claimHistory, fitsOf(claimHistory, { ...pass, isHere }, field)]),
    )
    for (const part of contestsOf(contest)) settle(state, part)
  }
  return { ...state, unmatchedDeliveries: [...state.free] }
}

type DeliveryMatchState = {
  open: Set<ClaimHistory>
  free: Set<ChainLeg>
  byHistory: Map<ClaimHistory, readonly { leg: DeliveryLeg; link: TransferLink }[]>
  ambiguous: Map<ClaimHistory, DeliveryAmbiguity>
  doubtful: ReadonlySet<ClaimHistory>
}

function settle(state: DeliveryMatchState, contest: Contest): void {
  for (const outcome of settleContest(contest, state.doubtful)) {
    const claimHistories = claimHistoriesOf(outcome)
    for (const claimHistory of claimHistories) state.open.delete(claimHistory)
    for (const leg of legsOf(outcome)) state.free.delete(leg)
    if (outcome.kind === 'matched') state.byHistory.set(outcome.claimHistory, deliveriesOf(outcome, contest))
    else if (outcome.ambiguity !== null)
      for (const claimHistory of claimHistories) state.ambiguous.set(claimHistory, outcome.ambiguity)
  }
}

function deliveriesOf(
  { claimHistory, parts }: Extract<ContestOutcome, { kind: 'matched' }>,
  contest: Contest,
) {
  const stated = statedAmount(claimHistory)
  const isAll = total(parts) === stated
  return parts.map(({ leg, amount }) => {
    const basis = contest.get(claimHistory)?.get(leg) ?? { rule: 'transaction', decision: null }
    const isWhole = parts.length === 1 && amount === leg.amount
    const exact = isWhole ? 'transaction and amount' : 'share'
    const rule = basis.rule === 'transaction and address' && isAll ? exact : basis.rule
    const link = linkOf(leg, rule, basis.decision)
    return { leg: { ...leg, amount: amount as Amount, whole: leg.amount }, link }
  })
}

type DeliveryCandidates = {
  decisions: DecisionLookup
  ruled: ReadonlyMap<ServiceId, readonly DecidedLink[]>
  named: ReadonlyMap<ClaimHistory, readonly TransactionClaims[]>
  /** Without those that a decision assigned: they belong to that deposit alone. */
  byTx: ReadonlyMap<TxId, readonly ChainLeg[]>
}

type TransactionClaims = readonly [TxId, readonly SettlementClaim[]]

function candidatesOf(
  claimHistories: readonly ClaimHistory[],
  legs: readonly ChainLeg[],
  decisions: DecisionLookup,
): DeliveryCandidates {
  const together = legs.flatMap((leg) => decisions.togetherWith(leg))
  const reserved = new Set(together.map(({ leg }) => leg))
  const open = legs.filter((leg) => !reserved.has(leg))
  return {
    decisions,
    ruled: Map.groupBy(together, ({ serviceId }) => serviceId),
    named: new Map(claimHistories.map((claimHistory) => [claimHistory, namedBy(claimHistory)])),
    byTx: Map.groupBy(open, ({ tx }) => tx),
  }
}

type Pass = Tier & { isHere: (leg: ChainLeg) => boolean }

/** In chain order. */
function fitsOf(
  claimHistory: ClaimHistory,
  { rule, isFit, isHere }: Pass,
  field: DeliveryCandidates,
): Map<ChainLeg, Basis> {
  const { serviceId } = claimHistory
  const ruled = (field.ruled.get(serviceId) ?? []).map(
    ({ leg, decision }) => [leg, { rule: 'decision', decision: decision.id }] as const,
  )
  const named = (field.named.get(claimHistory) ?? []).flatMap(([tx, claims]) =>
    (field.byTx.get(tx) ?? [])
      .filter((leg) => claims.some((one) => isFit(leg, one)) && !field.decisions.isApart(serviceId, leg))
      .map((leg) => [leg, { rule, decision: null }] as const),
  )
  const fits: (readonly [ChainLeg, Basis])[] = [...ruled, ...named].filter(([leg]) => isHere(leg))
  return new Map(fits.toSorted(([one], [other]) => compareLegs(one, other)))
}

function namedBy({ claims }: ClaimHistory): TransactionClaims[] {
  const named = [...claims.api, ...claims.webhook].flatMap(({ settlement }) => settlement ?? [])
  const byTx = Map.groupBy(
    named.flatMap((claim) => deliveryTxs(claim).map((tx) => ({ tx, claim }))),
    ({ tx }) => tx,
  )
  return [...byTx].map(([tx, all]) => [tx, all.map(({ claim }) => claim)])
}

function isAt(leg: ChainLeg, named: SettlementClaim): boolean {
  return leg.network === named.network && leg.to === named.address
}
