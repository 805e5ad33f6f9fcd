import type { TxId } from '../asset.ts'
import type { Claim, ServiceId } from '../evidence.ts'
import { earliest } from '../time.ts'
import type { ChainLeg, Story } from './fold.ts'
import { type Link, type LinkRule, linkOf } from './link.ts'
import { olderFirst, type Rulings } from './rulings.ts'

export type Payment = { leg: ChainLeg; link: Link }

/** A transfer that is another deposit's payment, and which. */
export type Reuse = { transfer: ChainLeg['ref']; serviceId: ServiceId }

export type Payments = {
  of: ReadonlyMap<Story, Payment>
  /** Of stories without a payment, those that claim one which another story has. */
  reused: ReadonlyMap<Story, Reuse>
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

/**
 * Gives each story at most one payment, and each payment to at most one story. Rulings come first. Then exact fits are
 * served, over all stories, so that a doubtful one cannot take another's payment; what is left goes in order of time in
 * which the transactions were named.
 * @param stories in the order in which they are served of those that were named at once
 */
export function matchPayments(
  stories: readonly Story[],
  legs: readonly ChainLeg[],
  rulings: Rulings,
): Payments {
  const { of, reserved } = matchRuled(stories, legs, rulings)
  const byTx = Map.groupBy(legs.toSorted(liveFirst), ({ tx }) => tx)
  const unserved = stories
    .filter((story) => !of.has(story))
    .map((story) => ({ story, since: namedAt(story) }))
  const fitting = new Map(
    unserved.toSorted(byTime).map(({ story }) => {
      const around = transactionsOf(story).flatMap((tx) => byTx.get(tx) ?? [])
      return [story, fitsOf(story, around, rulings)]
    }),
  )
  const taken = new Set(reserved)
  for (const wanted of fitsInOrder) {
    for (const [story, fits] of fitting) {
      const found = fits.find(({ leg, fit }) => wanted.includes(fit) && !taken.has(leg))
      if (found === undefined || of.has(story)) continue
      taken.add(found.leg)
      of.set(story, { leg: found.leg, link: linkOf(found.leg, found.fit) })
    }
  }
  return { of, reused: findReuse(fitting, of) }
}

/** Of one deposit and of one transfer the newest ruling holds. A transfer waits for a deposit that is not told of yet. */
function matchRuled(stories: readonly Story[], legs: readonly ChainLeg[], rulings: Rulings) {
  const byId = new Map(stories.map((story) => [story.serviceId, story]))
  const together = legs.flatMap((leg) => rulings.togetherWith(leg))
  const [reserved, served, of] = [new Set<ChainLeg>(), new Set<ServiceId>(), new Map<Story, Payment>()]
  for (const { leg, serviceId, ruling } of together.toSorted((a, b) => olderFirst(b.ruling, a.ruling))) {
    if (reserved.has(leg) || served.has(serviceId)) continue
    reserved.add(leg)
    served.add(serviceId)
    const story = byId.get(serviceId)
    if (story !== undefined) of.set(story, { leg, link: linkOf(leg, 'ruling', ruling.id) })
  }
  return { of, reserved }
}

type Fitting = { leg: ChainLeg; fit: Fit }

function findReuse(
  fitting: ReadonlyMap<Story, readonly Fitting[]>,
  payments: ReadonlyMap<Story, Payment>,
): Map<Story, Reuse> {
  const takerOf = new Map([...payments].map(([story, { leg }]) => [leg, story]))
  const reused = [...fitting].flatMap(([story, fits]): [Story, Reuse][] => {
    const leg = fits.find((one) => takerOf.has(one.leg))?.leg
    const taker = leg && takerOf.get(leg)
    if (payments.has(story) || !leg || !taker) return []
    return [[story, { transfer: leg.ref, serviceId: taker.serviceId }]]
  })
  return new Map(reused)
}

function transactionsOf({ api, webhook }: Story): TxId[] {
  return [...new Set([api, webhook].flatMap((claim) => claim?.deposit.tx ?? []))]
}

function byTime(left: { since: number }, right: { since: number }): number {
  return left.since - right.since
}

/** When the service first named the transaction that it names now: what is claimed later takes nothing away. */
function namedAt(story: Story): number {
  const { words } = story
  const txs = new Set<TxId | null>(transactionsOf(story))
  const naming = [...words.api, ...words.webhook].filter(({ deposit: { tx } }) => txs.has(tx))
  return earliest(naming.map(({ receivedAt }) => receivedAt))?.getTime() ?? 0
}

/** Either of the service's voices may be the one that names the transaction. */
function fitsOf(
  { serviceId, api, webhook }: Story,
  around: readonly ChainLeg[],
  rulings: Rulings,
): Fitting[] {
  return around.flatMap((leg) => {
    const fits = [api, webhook].map((claim) => (claim === null ? null : fitOfClaim(claim, leg, around)))
    const fit = fitsInOrder.flat().find((one) => fits.includes(one))
    return fit === undefined || rulings.isApart(serviceId, leg) ? [] : [{ leg, fit }]
  })
}

function fitOfClaim({ deposit }: Claim, leg: ChainLeg, around: readonly ChainLeg[]): Fit | null {
  if (deposit.tx !== leg.tx || deposit.address !== leg.to) return null
  if (deposit.network !== leg.network) return 'other network'
  const isExact = deposit.asset === leg.asset && deposit.amount === leg.amount
  if (deposit.index === null) return isExact ? 'transaction and amount' : 'transaction and address'
  if (deposit.index === leg.index) return isExact ? 'transfer named' : 'transaction and address'
  // An index that is there names that transfer and no other; one that is not there is the service's own way to count.
  return around.some((one) => isNamed(deposit, one)) ? null : 'transaction and address'
}

function isNamed({ network, tx, address, index }: Claim['deposit'], leg: ChainLeg): boolean {
  return leg.network === network && leg.tx === tx && leg.to === address && leg.index === index
}

export function liveFirst(left: ChainLeg, right: ChainLeg): number {
  return Number(left.state === 'orphaned') - Number(right.state === 'orphaned')
}
