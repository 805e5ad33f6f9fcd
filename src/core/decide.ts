import { type AssetKey, assetCode, type NetworkName, type TxId } from './asset.ts'
import { findOpenConversion, targetsOf } from './booking-targets.ts'
import { type CreditVerdict, judgeCredit } from './credit-safety.ts'
import type { Observation, ServiceId, TransferRef } from './evidence.ts'
import { deliveredLegs, liveLeg } from './judging/legs.ts'
import { type NamedTransaction, unseenTransactions } from './judging/named-transactions.ts'
import { type DepositVerdict, ignore, reconcile } from './judging/reconcile.ts'
import { policyOf } from './judging/route.ts'
import { countSteps } from './judging/steps.ts'
import { completedStages, type Lag, type Milestones } from './lag.ts'
import { type Approval, type DepositEvidence, divide } from './matching/divide.ts'
import { type ChainLeg, claimOf, total } from './matching/fold.ts'
import type { Mismatch } from './mismatch.ts'
import { type ContraRule, owedTermsOf } from './owed.ts'
import type { Policy, RoutePolicy } from './policy.ts'
import { type Journal, journalsFor, sinceOpening, standingJournals } from './posting.ts'
import { earliest } from './time.ts'
import { type DecidedWithdrawal, decideWithdrawals } from './withdrawals.ts'

export type DepositIdentity = {
  id: bigint
  serviceId: ServiceId | null
  transfer: TransferRef | null
  milestones: Milestones
}

export type ObservationGroup = {
  observations: readonly Observation[]
  approvals: readonly Approval[]
  deposits: readonly DepositIdentity[]
  journals: readonly Journal[]
  /** Null or absent if the observations are complete until now. */
  completeUntil?: Date | null
  /** When the books begin. Null or absent without opening balances. */
  openedAt?: Date | null
}

export type Rules = {
  policy: Policy
  routes: readonly RoutePolicy[]
  /**
   * Addresses the service forwards from, as `network/address`. A transfer from one to a recipient is a delivery;
   * unclaimed native coin from one to a deposit address pays for sweeping it.
   */
  senders: ReadonlySet<string>
  /** The first match applies; without one, the amount is owed to the owner. */
  contras?: readonly ContraRule[]
}

export type DecidedDeposit = {
  /** Null if the store does not know the deposit yet. */
  id: bigint | null
  /** Known deposits that turned out to be this one, which keeps the lowest number. */
  absorbed: readonly bigint[]
  evidence: DepositEvidence
  verdict: DepositVerdict
  payment: LegFacts | null
  delivery: LegFacts | null
  milestones: Milestones
  lags: readonly Lag[]
  journals: readonly Journal[]
  credit: CreditVerdict
  /**
   * Statuses that the API or the chain knows, how many of them a webhook reported, and since when one lacks a webhook.
   */
  steps: { known: number; reported: number; unreportedSince: Date | null }
  unseen: readonly NamedTransaction[]
}

export type UnmatchedDelivery = { leg: ChainLeg; mismatch: Mismatch }

export type GroupVerdict = {
  deposits: readonly DecidedDeposit[]
  unmatchedDeliveries: readonly UnmatchedDelivery[]
  withdrawals: readonly DecidedWithdrawal[]
  withdrawalJournals: readonly Journal[]
  recheckAt: Date | null
}

/**
 * Deadlines are compared with the time up to which the evidence is complete, so that evidence that may already have
 * arrived is never overdue.
 */
export function decide(group: ObservationGroup, rules: Rules, now: Date): GroupVerdict {
  const asOf = earliest([now, group.completeUntil ?? null]) ?? now
  const { policy, senders } = rules
  const { openedAt = null } = group
  const { evidences, unmatchedDeliveries } = divide(group.observations, group.approvals)
  const claims = group.observations.filter((one) => one.kind === 'withdrawal')
  const withdrawals = decideWithdrawals({ claims, legs: unmatchedDeliveries }, rules, asOf)
  const paidTargets = withdrawals.flatMap(({ target }) => target ?? [])
  const paidOut = new Set(withdrawals.map(({ leg }) => leg))
  const journals = Map.groupBy(group.journals, isOfWithdrawal)
  const takeDeposits = takerOf(group.deposits, (one) => one.serviceId ?? transactionOf(one.transfer))
  const takeJournals = takerOf(journals.get(false) ?? [], ({ transfer }) => transactionOf(transfer))
  const transfers = new Set(evidences.map(({ deposit }) => deposit?.ref))
  const deposits = evidences.map((evidence) => {
    const { serviceId, deposit } = evidence
    const transaction = transactionOf(deposit?.ref ?? null)
    const isPaidBy = (transfer: TransferRef | null) => isOf(deposit, transfer, transfers)
    const known = takeDeposits([serviceId, transaction], (one) =>
      one.serviceId === null ? isPaidBy(one.transfer) : one.serviceId === serviceId,
    )
    const booked = takeJournals([transaction], ({ transfer }) => isPaidBy(transfer))
    return decideDeposit({ evidence, known, booked, openedAt, now }, rules, asOf)
  })
  const deliveries = unmatchedDeliveries.filter((leg) => !paidOut.has(leg) && isDelivery(leg, senders))
  const isOverdue = (leg: ChainLeg) => dueAt(leg, policy) <= asOf
  const times = [
    ...deposits.map(({ verdict }) => verdict.recheckAt),
    ...withdrawals.map(({ recheckAt }) => recheckAt),
    ...deliveries.filter((leg) => !isOverdue(leg)).map((leg) => dueAt(leg, policy)),
  ]
  return {
    deposits,
    unmatchedDeliveries: deliveries.filter(isOverdue).map(unmatchedDeliveryOf),
    withdrawals,
    withdrawalJournals: journalsFor(sinceOpening(paidTargets, openedAt), journals.get(true) ?? [], null),
    recheckAt: earliest(times),
  }
}

type DepositDecisionInput = {
  evidence: DepositEvidence
  known: readonly DepositIdentity[]
  booked: readonly Journal[]
  openedAt: Date | null
  now: Date
}

function decideDeposit(
  { evidence, known, booked, openedAt, now }: DepositDecisionInput,
  rules: Rules,
  asOf: Date,
): DecidedDeposit {
  const [first, ...others] = known.toSorted((left, right) => (left.id < right.id ? -1 : 1))
  const id = first?.id ?? null
  const isIgnored = isTopUp(evidence, rules)
  const policy = policyOf(evidence, rules)
  const judged = isIgnored ? ignore(evidence, policy) : reconcile(evidence, policy, asOf)
  const terms = owedTermsOf(evidence, rules.contras)
  const targets = sinceOpening(targetsOf(evidence, judged, terms), openedAt)
  const conversion = findOpenConversion(targets, judged, { terms, policy, now: asOf })
  const verdict: DepositVerdict = {
    ...judged,
    mismatches: [...judged.mismatches, ...conversion.mismatches],
    recheckAt: earliest([judged.recheckAt, conversion.recheckAt]),
  }
  const before = first?.milestones ?? null
  const milestones = milestonesOf(evidence, verdict, before?.reconciledAt ?? now)
  const payment = paymentFacts(evidence)
  const journals = journalsFor(targets, booked, id)
  const standing = standingJournals([...booked, ...journals])
  return {
    id,
    absorbed: others.map((other) => other.id),
    evidence,
    verdict,
    payment,
    delivery: deliveryFacts(evidence),
    milestones,
    lags: payment === null || isIgnored ? [] : completedStages(before, milestones, payment.network),
    journals,
    credit: judgeCredit({ evidence, verdict, policy, standing }),
    steps: countSteps(evidence, verdict, policy),
    unseen: unseenTransactions(evidence, policy),
  }
}

function milestonesOf(
  { deposit, webhookAt, apiAt }: DepositEvidence,
  verdict: DepositVerdict,
  reconciledAt: Date,
): Milestones {
  const { finalAt, settledAt, state } = verdict
  return {
    depositedAt: deposit?.blockAt ?? null,
    chainAt: deposit?.seenAt ?? null,
    reconciledAt: state === 'reconciled' ? reconciledAt : null,
    webhookAt,
    apiAt,
    finalAt,
    settledAt,
  }
}

export type LegFacts = {
  network: NetworkName
  address: string
  asset: AssetKey
  amount: bigint | null
  tx: TxId | null
  /** In base units of the delivered asset. */
  fee?: bigint | null
}

function paymentFacts(evidence: DepositEvidence): LegFacts | null {
  const { deposit } = evidence
  return deposit === null ? (claimOf(evidence)?.deposit ?? null) : { ...deposit, address: deposit.to }
}

function deliveryFacts(evidence: DepositEvidence): LegFacts | null {
  const legs = deliveredLegs(evidence)
  const [leg] = legs
  const stated = claimOf(evidence)?.settlement ?? null
  if (leg === undefined) return stated
  const amount = total(legs.filter(({ asset }) => asset === leg.asset))
  return { ...leg, address: leg.to, amount, fee: stated?.fee ?? null }
}

type ItemTaker<Item> = (keys: readonly (string | null)[], isTaken: (item: Item) => boolean) => Item[]

/** Each item is taken once. It is found by its key, so that a large group is not searched for each deposit. */
function takerOf<Item>(items: readonly Item[], keyOf: (item: Item) => string | null): ItemTaker<Item> {
  const free = Map.groupBy(items, keyOf)
  return (keys, isTaken) =>
    keys.flatMap((key) => {
      const around = Map.groupBy(free.get(key) ?? [], isTaken)
      free.set(key, around.get(false) ?? [])
      return around.get(true) ?? []
    })
}

function isOfWithdrawal({ kind, reverses }: Journal): boolean {
  return kind === 'withdrawal' || reverses?.startsWith('withdrawal/') === true
}

function transactionOf(transfer: TransferRef | null): string | null {
  return transfer === null ? null : transfer.split('/', 2).join('/')
}

/** True for this payment, also under the index that it had before it came back under another. */
function isOf(
  deposit: ChainLeg | null,
  transfer: TransferRef | null,
  transfers: ReadonlySet<TransferRef | undefined>,
): boolean {
  if (deposit === null || transfer === null) return false
  const isGone = !transfers.has(transfer) && transfer.startsWith(`${deposit.network}/${deposit.tx}/`)
  return transfer === deposit.ref || isGone
}

function isDelivery(leg: ChainLeg, senders: ReadonlySet<string>): boolean {
  return liveLeg(leg)?.state === 'final' && leg.from !== null && senders.has(`${leg.network}/${leg.from}`)
}

/** The service's own coin, sent to a deposit address to pay for sweeping it. */
function isTopUp({ serviceId, deposit }: DepositEvidence, { senders }: Rules): boolean {
  if (serviceId !== null || deposit === null || deposit.from === null) return false
  return assetCode(deposit.asset) === 'native' && senders.has(`${deposit.network}/${deposit.from}`)
}

function dueAt(leg: ChainLeg, { reportWithinMs }: Policy): Date {
  return new Date((leg.finalAt ?? leg.seenAt).getTime() + reportWithinMs)
}

function unmatchedDeliveryOf(leg: ChainLeg): UnmatchedDelivery {
  const { ref, asset, amount, to } = leg
  const detail = { transfer: ref, asset, amount: amount.toString(), recipient: to }
  return { leg, mismatch: { kind: 'settlement_unreported', detail, loss: null } }
}

export function rulesOf({ policy, routes, senders, contras = [] }: Rules): Rules {
  return { policy, routes, senders, contras }
}
