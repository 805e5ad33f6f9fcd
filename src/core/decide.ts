import { type AssetKey, assetCode, type NetworkName, type TxId } from './asset.ts'
import { type ContraRule, contraOf } from './contra.ts'
import type { Observation, ServiceId, TransferRef } from './evidence.ts'
import { deliveredLegs, liveLeg, total } from './judging/matrix.ts'
import { type NamedTransaction, unseenTransactions } from './judging/named-transactions.ts'
import { type DepositVerdict, ignore, reconcile } from './judging/reconcile.ts'
import { policyOf } from './judging/route.ts'
import { countSteps } from './judging/steps.ts'
import { completedStages, type Lag, type Milestones } from './lag.ts'
import { type Approval, type DepositEvidence, divide } from './matching/divide.ts'
import { type ChainLeg, claimOf } from './matching/fold.ts'
import type { Mismatch } from './mismatch.ts'
import type { Policy, RoutePolicy } from './policy.ts'
import { type Journal, posting } from './posting.ts'
import { earliest } from './time.ts'

/** A deposit as the store knows it: its number, and what it was recognised by. */
export type DepositIdentity = {
  id: bigint
  serviceId: ServiceId | null
  transfer: TransferRef | null
  milestones: Milestones
}

export type ObservationGroup = {
  observations: readonly Observation[]
  approvals: readonly Approval[]
  known: readonly DepositIdentity[]
  booked: readonly Journal[]
  /** Until when all that came in is among the observations; null, or without it, until now. */
  completeUntil?: Date | null
}

export type Rules = {
  /** Where no route fits. */
  policy: Policy
  /** The first that fits a deposit holds. */
  routes: readonly RoutePolicy[]
  /**
   * Addresses the service forwards from, as `network/address`. What they send to a recipient is a delivery; the native
   * coin that they send to a deposit address pays for sweeping it, unless the service claims it as a deposit.
   */
  senders: ReadonlySet<string>
  /** Where the other side of a deposit stands; the first that fits holds, and without one it is owed to its owner. */
  contras?: readonly ContraRule[]
}

export type DecidedDeposit = {
  /** Null for a deposit the store does not know yet. */
  id: bigint | null
  /** Known deposits that turned out to be this one. */
  absorbed: readonly bigint[]
  dossier: DepositEvidence
  verdict: DepositVerdict
  payment: LegFacts | null
  delivery: LegFacts | null
  milestones: Milestones
  lags: readonly Lag[]
  journals: readonly Journal[]
  /** Of the statuses that the API or the chain knows, of how many a webhook told; and since when the first waits for one. */
  steps: { known: number; told: number; untoldSince: Date | null }
  /** Transactions that the service names and no chain has shown yet. */
  unseen: readonly NamedTransaction[]
}

/** A delivery that no deposit explains. */
export type UnmatchedDelivery = { leg: ChainLeg; mismatch: Mismatch }

export type GroupVerdict = {
  deposits: readonly DecidedDeposit[]
  strays: readonly UnmatchedDelivery[]
  /** The next moment at which time alone may change this decision. */
  recheckAt: Date | null
}

/**
 * Decides one group of linked evidence: its deposits, what is wrong with them, and what is to be booked. Nothing is
 * overdue that may have come in already: deadlines are held against the time until which the evidence is complete.
 */
export function decide(group: ObservationGroup, rules: Rules, now: Date): GroupVerdict {
  const asOf = earliest([now, group.completeUntil ?? null]) ?? now
  const { policy, senders } = rules
  const { dossiers, strays } = divide(group.observations, group.approvals)
  const free = {
    known: shelve(group.known, ({ serviceId, transfer }) => serviceId ?? transactionOf(transfer)),
    booked: shelve(group.booked, ({ transfer }) => transactionOf(transfer)),
  }
  const transfers = new Set(dossiers.map(({ deposit }) => deposit?.ref))
  const deposits = dossiers.map((dossier) => {
    const known = takeKnown(free.known, dossier, transfers)
    const booked = takeBooked(free.booked, dossier, transfers)
    return decideDeposit({ dossier, known, booked, now }, rules, asOf)
  })
  const deliveries = strays.filter((leg) => isDelivery(leg, senders))
  const isOverdue = (leg: ChainLeg) => dueAt(leg, policy) <= asOf
  const times = [
    ...deposits.map(({ verdict }) => verdict.recheckAt),
    ...deliveries.filter((leg) => !isOverdue(leg)).map((leg) => dueAt(leg, policy)),
  ]
  return { deposits, strays: deliveries.filter(isOverdue).map(strayOf), recheckAt: earliest(times) }
}

type DepositDecisionInput = {
  dossier: DepositEvidence
  known: readonly DepositIdentity[]
  booked: readonly Journal[]
  now: Date
}

function decideDeposit(
  { dossier, known, booked, now }: DepositDecisionInput,
  rules: Rules,
  asOf: Date,
): DecidedDeposit {
  const [first, ...others] = known
  const id = first?.id ?? null
  const isIgnored = isTopUp(dossier, rules)
  const policy = policyOf(dossier, rules)
  const verdict = isIgnored ? ignore(dossier, policy) : reconcile(dossier, policy, asOf)
  const before = first?.milestones ?? null
  const milestones = milestonesOf(dossier, verdict, before?.reconciledAt ?? now)
  const payment = paymentFacts(dossier)
  const contra = contraOf(dossier, rules.contras)
  return {
    id,
    absorbed: others.map((other) => other.id),
    dossier,
    verdict,
    payment,
    delivery: deliveryFacts(dossier),
    milestones,
    lags: payment === null || isIgnored ? [] : completedStages(before, milestones, payment.network),
    journals: posting(dossier, verdict, { depositId: id, journals: booked, contra }),
    steps: countSteps(dossier, verdict, policy),
    unseen: unseenTransactions(dossier),
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

/** One leg as a deposit's row shows it: the chain's word where it has one, the service's until then. */
export type LegFacts = {
  network: NetworkName
  address: string
  asset: AssetKey
  amount: bigint | null
  tx: TxId | null
  /** What the service states it kept, in the asset delivered. */
  fee?: bigint | null
}

function paymentFacts(dossier: DepositEvidence): LegFacts | null {
  const { deposit } = dossier
  return deposit === null ? (claimOf(dossier)?.deposit ?? null) : { ...deposit, address: deposit.to }
}

function deliveryFacts(dossier: DepositEvidence): LegFacts | null {
  const legs = deliveredLegs(dossier)
  const [leg] = legs
  const stated = claimOf(dossier)?.settlement ?? null
  if (leg === undefined) return stated
  return { ...leg, address: leg.to, amount: total(legs), fee: stated?.fee ?? null }
}

/**
 * The deposits known so far under this one's service id, or without any under its transfer, oldest first; more than
 * one have become one. Under another service id it stays that one's, whichever transfer it was given before. One that
 * was known by a transfer which is no deposit any more, since it came back under another index, goes with its payment.
 */
function takeKnown(
  free: Shelves<DepositIdentity>,
  { serviceId, deposit }: DepositEvidence,
  transfers: ReadonlySet<TransferRef | undefined>,
): DepositIdentity[] {
  const keys = new Set([serviceId, transactionOf(deposit?.ref ?? null)])
  const around = [...keys].flatMap((key) => [...(free.get(key) ?? [])])
  const known = around.filter((one) => {
    if (one.serviceId !== null) return one.serviceId === serviceId
    return isOf(deposit, one.transfer, transfers)
  })
  for (const one of known) free.get(one.serviceId ?? transactionOf(one.transfer))?.delete(one)
  return known.toSorted((left, right) => (left.id < right.id ? -1 : 1))
}

/** What is booked of this payment, also by the index under which it was before it came back under another. */
function takeBooked(
  free: Shelves<Journal>,
  { deposit }: DepositEvidence,
  transfers: ReadonlySet<TransferRef | undefined>,
): Journal[] {
  const around = free.get(transactionOf(deposit?.ref ?? null)) ?? new Set()
  const booked = [...around].filter(({ transfer }) => isOf(deposit, transfer, transfers))
  for (const journal of booked) around.delete(journal)
  return booked
}

/** What is still to be taken, by what it may be taken for, so that a large group is not searched for each deposit. */
type Shelves<Item> = ReadonlyMap<string | null, Set<Item>>

function shelve<Item>(items: readonly Item[], keyOf: (item: Item) => string | null): Shelves<Item> {
  return new Map([...Map.groupBy(items, keyOf)].map(([key, all]) => [key, new Set(all)]))
}

/** The network and the transaction of a transfer, without its index. */
function transactionOf(transfer: TransferRef | null): string | null {
  return transfer === null ? null : transfer.split('/', 2).join('/')
}

/** Whether a transfer is this payment, or was one of the same transaction and is none any more. */
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

/** The service's own coin, sent to a deposit address so that it can pay for moving on what was deposited there. */
function isTopUp({ serviceId, deposit }: DepositEvidence, { senders }: Rules): boolean {
  if (serviceId !== null || deposit === null || deposit.from === null) return false
  return assetCode(deposit.asset) === 'native' && senders.has(`${deposit.network}/${deposit.from}`)
}

/** When the service should have told which deposit this delivery belongs to. */
function dueAt(leg: ChainLeg, { reportWithinMs }: Policy): Date {
  return new Date((leg.finalAt ?? leg.seenAt).getTime() + reportWithinMs)
}

function strayOf(leg: ChainLeg): UnmatchedDelivery {
  const { ref, asset, amount, to } = leg
  const detail = { transfer: ref, asset, amount: amount.toString(), recipient: to }
  return { leg, mismatch: { kind: 'settlement_unreported', detail, loss: null } }
}
