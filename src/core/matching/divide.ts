import type { Address, NetworkName } from '../asset.ts'
import {
  deliveryTxs,
  type LegSearch,
  type Observation,
  type Owner,
  type ServiceId,
  serviceOf,
  type TransactionFailure,
} from '../evidence.ts'
import { earliest } from '../time.ts'
import { foldDecisions, type WriteOff, writeOffOf } from './decisions.ts'
import {
  type ChainLeg,
  type ClaimHistory,
  claimOf,
  compareLegs,
  foldChainTransfers,
  foldClaims,
  foldFailures,
  foldSearches,
  isSamePayment,
} from './fold.ts'
import { linkOf, type TransferLink } from './link.ts'
import { type Deliveries, type DeliveryLeg, matchDeliveries } from './match-deliveries.ts'
import { matchPayments, type Payments, type Reuse } from './match-payments.ts'
import { matchRefunds } from './match-refunds.ts'
import type { DeliveryAmbiguity } from './settle-contest.ts'

export type Approval = {
  network: NetworkName
  address: Address
  owner: Owner
  /** Null for a StableWallet. */
  forward: { network: NetworkName; recipient: Address } | null
  /** A payment in an earlier block is not valid. Null or absent without such a limit. */
  startsAt?: Date | null
  /** A payment in a block of this time or a later one is not valid. Null or absent without such a limit. */
  endsAt?: Date | null
}

export type DepositEvidence = Omit<ClaimHistory, 'serviceId'> & {
  /** Null until the service reports the deposit. */
  serviceId: ServiceId | null
  deposit: ChainLeg | null
  settlements: readonly DeliveryLeg[]
  refunds: readonly ChainLeg[]
  /** The payment first, then the deliveries and the refunds. */
  links: readonly TransferLink[]
  failures: readonly TransactionFailure[]
  searches: readonly LegSearch[]
  approval: Approval | null
  /** The service names an owner of ours with an address that is not its own. */
  addressConflict: AddressConflict | null
  unknownOwner: Owner | null
  /** The claimed address is that of an owner of another service. */
  foreign: Approval | null
  /** The payment that it claims belongs to another deposit. */
  reuse: Reuse | null
  /** Shared deliveries whose amounts do not add up. */
  ambiguity: DeliveryAmbiguity | null
  writeOff: WriteOff | null
}

/** `approved` is null if the owner has no address on that network. */
export type AddressConflict = {
  owner: Owner
  network: NetworkName
  stated: Address
  approved: Address | null
}

export type Division = { evidences: readonly DepositEvidence[]; unmatchedDeliveries: readonly ChainLeg[] }

/** The same evidence in any order gives the same division. */
export function divide(observations: readonly Observation[], approvals: readonly Approval[]): Division {
  const transfers = foldChainTransfers(observations.filter((one) => one.kind === 'chain_transfer'))
  const legs = transfers.filter((leg) => !isReplaced(leg, transfers)).toSorted(compareLegs)
  const claimHistories = foldClaims(observations.filter((one) => one.kind === 'claim'))
  const failures = foldFailures(observations.filter((one) => one.kind === 'failure'))
  const searches = foldSearches(observations.filter((one) => one.kind === 'search'))
  const transferDecisions = observations.filter((one) => one.kind === 'decision')
  const decisions = foldDecisions(transferDecisions, legs)
  const byFirstReport = claimHistories.toSorted(firstReportedFirst)
  const paid = legs.filter(({ role }) => role === 'deposit')
  const delivered = legs.filter(({ role }) => role === 'recipient')
  const isForeign = (serviceId: ServiceId, leg: ChainLeg) => isOfOther(serviceId, approvalOf(leg, approvals))
  const payments = matchPayments({ claimHistories: byFirstReport, legs: paid, decisions, isForeign })
  const paying = { claimHistories: byFirstReport, ...payments }
  const deliveries = matchDeliveries(paying, delivered, decisions)
  const refunds = matchRefunds(paying, deliveries.unmatchedDeliveries, decisions)
  const reported = claimHistories.map((claimHistory): DepositEvidence => {
    const deposit = payments.byHistory.get(claimHistory)?.leg ?? null
    const own = approvals.filter((one) => !isOfOther(claimHistory.serviceId, one))
    const approval = deposit ? approvalOf(deposit, own) : claimedApproval(claimHistory, own)
    return {
      ...claimHistory,
      ...matchedLegs(claimHistory, { payments, deliveries, refunds }),
      failures: failures.filter((failure) => isNamed(failure, claimHistory)),
      searches: searches.filter(({ serviceId }) => serviceId === claimHistory.serviceId),
      approval,
      addressConflict: addressConflictOf(claimHistory, own),
      unknownOwner: unknownOwnerOf(claimHistory, own),
      foreign: approval === null ? claimedApproval(claimHistory, approvals) : null,
      writeOff: writeOffOf(transferDecisions, deposit),
    }
  })
  const taken = new Set(reported.map(({ deposit }) => deposit))
  const unreported = paid
    .filter((leg) => !taken.has(leg) && !isBack(leg, reported))
    .map((leg) => ({
      ...nothingReported,
      deposit: leg,
      links: [linkOf(leg, 'unclaimed')],
      approval: approvalOf(leg, approvals),
      writeOff: writeOffOf(transferDecisions, leg),
    }))
  const back = new Set([...refunds.values()].flat())
  return {
    evidences: [...reported, ...unreported],
    unmatchedDeliveries: deliveries.unmatchedDeliveries.filter((leg) => !back.has(leg)),
  }
}

type MatchResults = {
  payments: Payments
  deliveries: Deliveries
  refunds: ReturnType<typeof matchRefunds>
}

function matchedLegs(claimHistory: ClaimHistory, { payments, deliveries, refunds: returned }: MatchResults) {
  const payment = payments.byHistory.get(claimHistory)
  const parts = deliveries.byHistory.get(claimHistory) ?? []
  const refunds = returned.get(claimHistory) ?? []
  const links = [...parts.map(({ link }) => link), ...refunds.map((leg) => linkOf(leg, 'refund'))]
  return {
    deposit: payment?.leg ?? null,
    settlements: parts.map(({ leg }) => leg),
    refunds,
    links: payment ? [payment.link, ...links] : links,
    reuse: payments.reused.get(claimHistory) ?? null,
    ambiguity: deliveries.ambiguous.get(claimHistory) ?? null,
  }
}

const nothingReported = {
  serviceId: null,
  webhook: null,
  api: null,
  webhookAt: null,
  apiAt: null,
  statuses: { webhook: new Map(), api: new Map() },
  claims: { webhook: [], api: [] },
  settlements: [],
  refunds: [],
  failures: [],
  searches: [],
  addressConflict: null,
  unknownOwner: null,
  foreign: null,
  reuse: null,
  ambiguity: null,
}

/** If two deposits claim one transfer, the first reported has it, then the lower id. */
function firstReportedFirst(left: ClaimHistory, right: ClaimHistory): number {
  return reportedAt(left) - reportedAt(right)
}

function reportedAt({ webhookAt, apiAt }: ClaimHistory): number {
  return earliest([webhookAt, apiAt])?.getTime() ?? 0
}

function isNamed({ role, network, tx }: TransactionFailure, { api, webhook }: ClaimHistory): boolean {
  const named = [api, webhook].map((claim) => (role === 'deposit' ? claim?.deposit : claim?.settlement))
  return named.some((leg) => leg?.network === network && deliveryTxs(leg).includes(tx))
}

/**
 * Transfers in a block that is gone do not add to the current payments of the transaction; one that was final stays
 * reported as gone until final again.
 */
function isReplaced(leg: ChainLeg, legs: readonly ChainLeg[]): boolean {
  if (leg.state !== 'orphaned') return false
  const now = legs.filter((one) => isSamePayment(one, leg))
  return now.some(({ state }) => state === 'final' || (state === 'seen' && leg.finalAt === null))
}

/** An early reading that was withdrawn and came back under another index is not a second payment. */
function isBack(leg: ChainLeg, reported: readonly DepositEvidence[]): boolean {
  if (leg.state !== 'orphaned' || leg.finalAt !== null) return false
  return reported.some(({ deposit }) => deposit !== null && deposit.tx === leg.tx && deposit.to === leg.to)
}

function isOfOther(serviceId: ServiceId, approval: Approval | null): boolean {
  return approval !== null && serviceOf(approval.owner.id) !== serviceOf(serviceId)
}

function approvalAt(
  { network, address }: Pick<Approval, 'network' | 'address'>,
  approvals: readonly Approval[],
): Approval | null {
  return approvals.find((one) => one.network === network && one.address === address) ?? null
}

function approvalOf({ network, to }: ChainLeg, approvals: readonly Approval[]): Approval | null {
  return approvalAt({ network, address: to }, approvals)
}

function addressConflictOf(
  { api, webhook }: ClaimHistory,
  approvals: readonly Approval[],
): AddressConflict | null {
  const conflicts = [api, webhook].map((claim) => {
    if (claim === null || claim.owner === null) return null
    const { owner, deposit } = claim
    const own = approvals.filter((approval) => isOf(approval, owner))
    const onNetwork = own.filter(({ network }) => network === deposit.network)
    if (onNetwork.some(({ address }) => address === deposit.address)) return null
    // If the owner has no address on that network, only an address of another owner contradicts it.
    const isOthers = own.length > 0 && approvalAt(deposit, approvals) !== null
    if (onNetwork[0] === undefined && !isOthers) return null
    const current = onNetwork.find(({ endsAt }) => !endsAt) ?? onNetwork[0]
    const approved = current?.address ?? null
    return { owner, network: deposit.network, stated: deposit.address, approved }
  })
  return conflicts.find((conflict) => conflict !== null) ?? null
}

function unknownOwnerOf({ api, webhook }: ClaimHistory, approvals: readonly Approval[]): Owner | null {
  const isUnknown = (owner: Owner) => !approvals.some((one) => isOf(one, owner))
  const owners = [api?.owner ?? null, webhook?.owner ?? null]
  return owners.find((owner) => owner !== null && isUnknown(owner)) ?? null
}

function isOf({ owner }: Approval, { kind, id }: Owner): boolean {
  return owner.kind === kind && owner.id === id
}

/** The service may place one address on two networks: the one on which the address is ours applies. */
function claimedApproval(claimHistory: ClaimHistory, approvals: readonly Approval[]): Approval | null {
  const places = [claimOf(claimHistory), claimHistory.api, claimHistory.webhook]
    .flatMap((claim) => claim?.deposit ?? [])
    .filter(({ address }, _, [first]) => address === first?.address)
  return places.map((place) => approvalAt(place, approvals)).find((one) => one !== null) ?? null
}
