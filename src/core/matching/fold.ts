import {
  type Claim,
  type ClaimStatus,
  encodeObservation,
  type LegSearch,
  type ObservedChainTransfer,
  type ServiceId,
  type TransactionFailure,
  type TransferRef,
  transferRef,
} from '../evidence.ts'
import { earliest } from '../time.ts'

export type ChainLeg = Omit<ObservedChainTransfer, 'kind' | 'stage' | 'receivedAt'> & {
  ref: TransferRef
  state: ObservedChainTransfer['stage']
  seenAt: Date
  finalAt: Date | null
}

export type ClaimHistory = {
  serviceId: ServiceId
  webhook: Claim | null
  api: Claim | null
  webhookAt: Date | null
  apiAt: Date | null
  statuses: { webhook: ReadonlyMap<ClaimStatus, Date>; api: ReadonlyMap<ClaimStatus, Date> }
  /** Without duplicates, in the order in which the service made them. */
  claims: { webhook: readonly Claim[]; api: readonly Claim[] }
}

/** Within one epoch a final reading outranks a withdrawal, which outranks an early reading. */
const stageRank: Record<ObservedChainTransfer['stage'], number> = { seen: 0, orphaned: 1, final: 2 }

export const statusRank: Record<ClaimStatus, number> = {
  observed: 0,
  confirmed: 1,
  held: 2,
  settling: 3,
  settled: 4,
  refunded: 5,
  failed: 5,
}

function isFurther(one: Claim, other: Claim): boolean {
  return statusRank[one.status] > statusRank[other.status]
}

/** The API's claim, unless only a webhook reports a later step. */
export function claimOf({ api, webhook }: Pick<ClaimHistory, 'webhook' | 'api'>): Claim | null {
  if (api === null || webhook === null) return api ?? webhook
  return isFurther(webhook, api) ? webhook : api
}

/**
 * Ordered by reference. An address watched in both roles gives two legs: the payment of one deposit and the delivery of
 * another.
 */
export function foldChainTransfers(chainTransfers: readonly ObservedChainTransfer[]): ChainLeg[] {
  return groupBy(chainTransfers, (one) => `${one.role} ${transferRef(one)}`).map(([, all]) => {
    const { kind: _, stage, receivedAt, ...facts } = all.reduce(further)
    const finals = all.filter((one) => one.stage === 'final')
    return {
      ...facts,
      ref: transferRef(facts),
      state: stage,
      seenAt: firstOf(all) ?? receivedAt,
      finalAt: firstOf(finals),
    }
  })
}

/** Under any index: a transaction that is included again mostly runs under other indexes. */
export function isSamePayment(one: LegAddress, other: LegAddress): boolean {
  const names = ['role', 'network', 'tx', 'to'] as const
  return names.every((name) => one[name] === other[name])
}

type LegAddress = Pick<ChainLeg, 'role' | 'network' | 'tx' | 'to'>

export function total(parts: readonly { amount: bigint }[]): bigint {
  return parts.reduce((sum, { amount }) => sum + amount, 0n)
}

/** Orders the transfers of one transaction as the chain does. */
export function compareLegs(left: ChainLeg, right: ChainLeg): number {
  const isOneTransaction = left.network === right.network && left.tx === right.tx
  if (!isOneTransaction || left.index.length === right.index.length) return compareText(left.ref, right.ref)
  return left.index.length - right.index.length
}

export function foldFailures(failures: readonly TransactionFailure[]): TransactionFailure[] {
  return groupBy(failures, ({ role, network, tx, to }) => `${role} ${network}/${tx}/${to}`).map(([, all]) =>
    all.reduce((left, right) => {
      const order =
        left.receivedAt.getTime() - right.receivedAt.getTime() || Number(left.height - right.height)
      return order < 0 ? right : left
    }),
  )
}

/** Oldest first, then by content, so that the order of arrival does not matter. */
export function foldSearches(searches: readonly LegSearch[]): LegSearch[] {
  return searches.toSorted(
    (left, right) =>
      left.receivedAt.getTime() - right.receivedAt.getTime() ||
      compareText(encodeObservation(left), encodeObservation(right)),
  )
}

export function foldClaims(claims: readonly Claim[]): ClaimHistory[] {
  return groupBy(claims, (claim) => claim.serviceId).map(([serviceId, all]) => {
    const webhooks = all.filter((claim) => claim.source === 'webhook')
    const records = all.filter((claim) => claim.source === 'api')
    return {
      serviceId,
      webhook: furthest(webhooks),
      api: furthest(records),
      webhookAt: firstOf(webhooks),
      apiAt: firstOf(records),
      statuses: { webhook: firstOfEach(webhooks), api: firstOfEach(records) },
      claims: { webhook: orderedClaims(webhooks), api: orderedClaims(records) },
    }
  })
}

/** An older event never reverts a state, whenever it arrives. */
function furthest(claims: readonly Claim[]): Claim | null {
  return claims.toSorted((left, right) => compareClaims(right, left))[0] ?? null
}

function compareClaims(left: Claim, right: Claim): number {
  return (
    statusRank[left.status] - statusRank[right.status] ||
    left.occurredAt.getTime() - right.occurredAt.getTime() ||
    left.receivedAt.getTime() - right.receivedAt.getTime() ||
    compareText(JSON.stringify(left, sortFields), JSON.stringify(right, sortFields))
  )
}

function orderedClaims(claims: readonly Claim[]): Claim[] {
  const sorted = claims.toSorted(compareClaimOrder)
  return sorted.filter((claim, place) => {
    const before = sorted[place - 1]
    return before === undefined || compareClaimOrder(before, claim) !== 0
  })
}

/** At equal times, a record read later is newer, but a webhook received later may only have been delayed. */
function compareClaimOrder(left: Claim, right: Claim): number {
  const read = left.source === 'api' ? left.receivedAt.getTime() - right.receivedAt.getTime() : 0
  return left.occurredAt.getTime() - right.occurredAt.getTime() || read || compareClaims(left, right)
}

function further(left: ObservedChainTransfer, right: ObservedChainTransfer): ObservedChainTransfer {
  const order =
    left.epoch - right.epoch ||
    stageRank[left.stage] - stageRank[right.stage] ||
    Number(left.height - right.height) ||
    compareText(left.blockHash, right.blockHash)
  return order < 0 ? right : left
}

function firstOf(all: readonly { receivedAt: Date }[]): Date | null {
  return earliest(all.map((one) => one.receivedAt))
}

function firstOfEach(claims: readonly Claim[]): ReadonlyMap<ClaimStatus, Date> {
  const groups = groupBy(claims, ({ status }) => status)
  const times = groups.map(([status, all]) => [status, all.map(({ receivedAt }) => receivedAt)] as const)
  return new Map(
    times.map(([status, all]) => [status, all.reduce((one, other) => (other < one ? other : one))]),
  )
}

function groupBy<Item, Key extends string>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
): [Key, Item[]][] {
  return [...Map.groupBy(items, keyOf)].toSorted(([left], [right]) => compareText(left, right))
}

/** The order of fields depends on where the observation was stored, and must not affect comparisons. */
function sortFields(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => compareText(left, right)))
}

export function compareText(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}
