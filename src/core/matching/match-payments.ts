import type { TxId } from '../asset.ts'
import type { Claim, ServiceId } from '../evidence.ts'
import { earliest } from '../time.ts'
import type { ChainLeg, ClaimHistory } from './fold.ts'
import { type LinkRule, linkOf, type TransferLink } from './link.ts'
import { type DecisionLookup, outrankedFirst } from './rulings.ts'

export type PaymentMatch = { leg: ChainLeg; link: TransferLink }

/** A transfer that is another deposit's payment, and the service id of that deposit. */
export type Reuse = { transfer: ChainLeg['ref']; serviceId: ServiceId }

export type Payments = {
  of: ReadonlyMap<ClaimHistory, PaymentMatch>
  /** Claim histories without a payment that claim the payment of another history. */
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

/**
 * Gives each claim history at most one payment, and each payment to at most one history. Decisions come first. Exact
 * fits follow, across all histories, so that a doubtful fit cannot take another's payment. Among equal fits, the
 * transaction that was named first takes precedence.
 * @param stories in the order of precedence among those that were named at once
 */
export function matchPayments(
  stories: readonly ClaimHistory[],
  legs: readonly ChainLeg[],
  rulings: DecisionLookup,
): Payments {
  if (stories.length === 0 || legs.length === 0) return { of: new Map(), reused: new Map() }
  const { of, takerOf } = matchRuled(stories, legs, rulings)
  const byTx = Map.groupBy(legs.toSorted(liveFirst), ({ tx }) => tx)
  const fitting = namedFirst(stories.filter((story) => !of.has(story))).map((story) => {
    const around = transactionsOf(story).flatMap((tx) => byTx.get(tx) ?? [])
    return { story, fits: fitsOf(story, around, rulings) }
  })
  for (const wanted of fitsInOrder) {
    for (const { story, fits } of fitting) {
      const found = fits.find(({ leg, fit }) => wanted.includes(fit) && !takerOf.has(leg))
      if (found === undefined || of.has(story)) continue
      takerOf.set(found.leg, story.serviceId)
      of.set(story, { leg: found.leg, link: linkOf(found.leg, found.fit) })
    }
  }
  return {
    of,
    reused: findReuse(
      fitting.filter(({ story }) => !of.has(story)),
      takerOf,
    ),
  }
}

/**
 * The highest-ranking decision on a deposit or a transfer applies. A transfer stays reserved for a deposit that is not
 * reported yet.
 */
function matchRuled(stories: readonly ClaimHistory[], legs: readonly ChainLeg[], rulings: DecisionLookup) {
  const takerOf = new Map<ChainLeg, ServiceId>()
  const of = new Map<ClaimHistory, PaymentMatch>()
  const together = legs.flatMap((leg) => rulings.togetherWith(leg))
  const served = new Set<ServiceId>()
  for (const { leg, serviceId, ruling } of together.toSorted((a, b) => outrankedFirst(b.ruling, a.ruling))) {
    if (takerOf.has(leg) || served.has(serviceId)) continue
    takerOf.set(leg, serviceId)
    served.add(serviceId)
    const story = stories.find((one) => one.serviceId === serviceId)
    if (story !== undefined) of.set(story, { leg, link: linkOf(leg, 'ruling', ruling.id) })
  }
  return { of, takerOf }
}

type Fits = readonly { leg: ChainLeg; fit: Fit }[]

function findReuse(
  unserved: readonly { story: ClaimHistory; fits: Fits }[],
  takerOf: ReadonlyMap<ChainLeg, ServiceId>,
): Map<ClaimHistory, Reuse> {
  const reused = new Map<ClaimHistory, Reuse>()
  for (const { story, fits } of unserved) {
    const leg = fits.find((one) => takerOf.has(one.leg))?.leg
    const serviceId = leg && takerOf.get(leg)
    if (leg && serviceId) reused.set(story, { transfer: leg.ref, serviceId })
  }
  return reused
}

function transactionsOf({ api, webhook }: ClaimHistory): TxId[] {
  const [one, other] = [api?.deposit.tx ?? null, webhook?.deposit.tx ?? null]
  return [one, other === one ? null : other].filter((tx) => tx !== null)
}

function namedFirst(stories: readonly ClaimHistory[]): readonly ClaimHistory[] {
  if (stories.length < 2) return stories
  const timed = stories.map((story) => ({ story, since: namedAt(story) }))
  return timed.toSorted((left, right) => left.since - right.since).map(({ story }) => story)
}

/** When the service first named the transaction that it names now: a later claim takes nothing away. */
function namedAt(story: ClaimHistory): number {
  const { words } = story
  const txs = new Set<TxId | null>(transactionsOf(story))
  const naming = [...words.api, ...words.webhook].filter(({ deposit: { tx } }) => txs.has(tx))
  return earliest(naming.map(({ receivedAt }) => receivedAt))?.getTime() ?? 0
}

/** The transaction may be named by the API or by a webhook. */
function fitsOf(
  { serviceId, api, webhook }: ClaimHistory,
  around: readonly ChainLeg[],
  rulings: DecisionLookup,
): Fits {
  return around.flatMap((leg) => {
    const fits = [api, webhook].map((claim) => (claim === null ? null : fitOfClaim(claim, leg, around)))
    const fit = strongestFirst.find((one) => fits.includes(one))
    return fit === undefined || rulings.isApart(serviceId, leg) ? [] : [{ leg, fit }]
  })
}

function fitOfClaim({ deposit }: Claim, leg: ChainLeg, around: readonly ChainLeg[]): Fit | null {
  if (deposit.tx !== leg.tx || deposit.address !== leg.to) return null
  if (deposit.network !== leg.network) return 'other network'
  const isExact = deposit.asset === leg.asset && deposit.amount === leg.amount
  if (deposit.index === null) return isExact ? 'transaction and amount' : 'transaction and address'
  if (deposit.index === leg.index) return isExact ? 'transfer named' : 'transaction and address'
  // An index that exists names exactly that transfer. An index that does not exist is the service's own numbering.
  return around.some((one) => isNamed(deposit, one)) ? null : 'transaction and address'
}

function isNamed({ network, tx, address, index }: Claim['deposit'], leg: ChainLeg): boolean {
  return leg.network === network && leg.tx === tx && leg.to === address && leg.index === index
}

export function liveFirst(left: ChainLeg, right: ChainLeg): number {
  return Number(left.state === 'orphaned') - Number(right.state === 'orphaned')
}
