import type { TxId } from '../asset.ts'
import type { Claim, ServiceId } from '../evidence.ts'
import { earliest } from '../time.ts'
import { type DecisionLookup, outrankedFirst } from './decisions.ts'
import type { ChainLeg, ClaimHistory } from './fold.ts'
import { type LinkRule, linkOf, type TransferLink } from './link.ts'

export type PaymentMatch = { leg: ChainLeg; link: TransferLink }

/** The transfer is the payment of deposit `serviceId`. */
export type Reuse = { transfer: ChainLeg['ref']; serviceId: ServiceId }

export type Payments = {
  byHistory: ReadonlyMap<ClaimHistory, PaymentMatch>
  reused: ReadonlyMap<ClaimHistory, Reuse>
}

type Fit = Extract<
  LinkRule,
  'transfer named' | 'transaction and amount' | 'transaction and address' | 'other network'
>
const fitsInOrder: readonly (readonly Fit[])[] = [
  ['transfer named', 'transaction and amount'],
  ['transaction and address'],
  ['other network'],
]
const strongestFirst = fitsInOrder.flat()

export type PaymentsInput = {
  /** In the order of precedence among those that were named at once. */
  claimHistories: readonly ClaimHistory[]
  legs: readonly ChainLeg[]
  decisions: DecisionLookup
  /** The address belongs to an owner of another service: only a person can decide that they belong together. */
  isForeign: (serviceId: ServiceId, leg: ChainLeg) => boolean
}

/**
 * At most one payment per history, and one history per payment. Decisions come first, then exact fits across all
 * histories, so that a doubtful fit cannot take another's payment. Among equal fits, the transaction named first takes
 * precedence.
 */
export function matchPayments(input: PaymentsInput): Payments {
  const { claimHistories, legs, decisions } = input
  const { byHistory, takerOf } = matchDecided(claimHistories, legs, decisions)
  const byTx = Map.groupBy(legs.toSorted(liveFirst), ({ tx }) => tx)
  const fitting = namedFirst(claimHistories).map((claimHistory) => {
    const around = transactionsOf(claimHistory).flatMap((tx) => byTx.get(tx) ?? [])
    return { claimHistory, fits: fitsOf(claimHistory, around, input) }
  })
  for (const wanted of fitsInOrder) {
    for (const { claimHistory, fits } of fitting) {
      const found = fits.find(({ leg, fit }) => wanted.includes(fit) && !takerOf.has(leg))
      if (found === undefined || byHistory.has(claimHistory)) continue
      takerOf.set(found.leg, claimHistory.serviceId)
      byHistory.set(claimHistory, { leg: found.leg, link: linkOf(found.leg, found.fit) })
    }
  }
  const unserved = fitting.filter(({ claimHistory }) => !byHistory.has(claimHistory))
  const reused = unserved.flatMap(({ claimHistory, fits }): [ClaimHistory, Reuse][] => {
    const leg = fits.find((one) => takerOf.has(one.leg))?.leg
    const serviceId = leg && takerOf.get(leg)
    return leg && serviceId ? [[claimHistory, { transfer: leg.ref, serviceId }]] : []
  })
  return { byHistory, reused: new Map(reused) }
}

/** A transfer stays reserved for a deposit that is not reported yet. */
function matchDecided(
  claimHistories: readonly ClaimHistory[],
  legs: readonly ChainLeg[],
  decisions: DecisionLookup,
) {
  const takerOf = new Map<ChainLeg, ServiceId>()
  const byHistory = new Map<ClaimHistory, PaymentMatch>()
  const together = legs.flatMap((leg) => decisions.togetherWith(leg))
  const served = new Set<ServiceId>()
  for (const { leg, serviceId, decision } of together.toSorted((a, b) =>
    outrankedFirst(b.decision, a.decision),
  )) {
    if (takerOf.has(leg) || served.has(serviceId)) continue
    takerOf.set(leg, serviceId)
    served.add(serviceId)
    const claimHistory = claimHistories.find((one) => one.serviceId === serviceId)
    if (claimHistory !== undefined)
      byHistory.set(claimHistory, { leg, link: linkOf(leg, 'decision', decision.id) })
  }
  return { byHistory, takerOf }
}

type Fits = readonly { leg: ChainLeg; fit: Fit }[]

function transactionsOf({ api, webhook }: ClaimHistory): TxId[] {
  return [...new Set([api, webhook].flatMap((claim) => claim?.deposit.tx ?? []))]
}

function namedFirst(claimHistories: readonly ClaimHistory[]): readonly ClaimHistory[] {
  const timed = claimHistories.map((claimHistory) => ({ claimHistory, since: namedAt(claimHistory) }))
  return timed.toSorted((left, right) => left.since - right.since).map(({ claimHistory }) => claimHistory)
}

/** When the service first named its current transaction: a later claim takes nothing away. */
function namedAt(claimHistory: ClaimHistory): number {
  const { claims } = claimHistory
  const txs = new Set<TxId | null>(transactionsOf(claimHistory))
  const naming = [...claims.api, ...claims.webhook].filter(({ deposit: { tx } }) => txs.has(tx))
  return earliest(naming.map(({ receivedAt }) => receivedAt))?.getTime() ?? 0
}

/** By the API or a webhook. */
function fitsOf(
  { serviceId, api, webhook }: ClaimHistory,
  around: readonly ChainLeg[],
  { decisions, isForeign }: PaymentsInput,
): Fits {
  return around.flatMap((leg) => {
    const fits = [api, webhook].map((claim) => (claim === null ? null : fitOfClaim(claim, leg, around)))
    const fit = strongestFirst.find((one) => fits.includes(one))
    const isNone = fit === undefined || decisions.isApart(serviceId, leg) || isForeign(serviceId, leg)
    return isNone ? [] : [{ leg, fit }]
  })
}

function fitOfClaim({ deposit }: Claim, leg: ChainLeg, around: readonly ChainLeg[]): Fit | null {
  if (deposit.tx !== leg.tx || deposit.address !== leg.to) return null
  if (deposit.network !== leg.network) return 'other network'
  const isExact = deposit.asset === leg.asset && deposit.amount === leg.amount
  if (deposit.index === null) return isExact ? 'transaction and amount' : 'transaction and address'
  if (deposit.index === leg.index) return isExact ? 'transfer named' : 'transaction and address'
  // An index that exists names exactly that transfer; another is the service's own numbering.
  return around.some((one) => isNamed(deposit, one)) ? null : 'transaction and address'
}

function isNamed({ network, tx, address, index }: Claim['deposit'], leg: ChainLeg): boolean {
  return leg.network === network && leg.tx === tx && leg.to === address && leg.index === index
}

function liveFirst(left: ChainLeg, right: ChainLeg): number {
  return Number(left.state === 'orphaned') - Number(right.state === 'orphaned')
}
