import type { ServiceId, SettlementClaim } from './evidence.ts'
import type { ChainLeg, Story } from './fold.ts'
import { type Link, type LinkRule, linkOf } from './link.ts'
import type { Amount } from './money.ts'
import type { Rulings, Together } from './rulings.ts'
import {
  type Ambiguity,
  type Contest,
  contestsOf,
  type Outcome,
  settleContest,
  statedAmount,
} from './settle-contest.ts'

/** A delivery of a deposit, or its share in one. */
export type Delivery = ChainLeg & {
  /** What the whole transfer brought; `amount` is this deposit's share of it. */
  whole: Amount
}

export type Deliveries = {
  of: ReadonlyMap<Story, readonly { leg: Delivery; link: Link }[]>
  ambiguous: ReadonlyMap<Story, Ambiguity>
  /** What no story has, or may have, any part in. */
  strays: readonly ChainLeg[]
}

type Tier = { rule: LinkRule; isFit: (leg: ChainLeg, named: SettlementClaim) => boolean }

/** What must agree of a transfer beside its transaction, the strongest first. */
const tiers: readonly Tier[] = [
  { rule: 'transaction and address', isFit: (leg, named) => isAt(leg, named) && leg.asset === named.asset },
  { rule: 'transaction and address', isFit: isAt },
  { rule: 'transaction', isFit: (leg, { network }) => leg.network === network },
  { rule: 'other network', isFit: () => true },
]

/** What the chain took back comes last. */
const passes = [false, true].flatMap((isGone) => tiers.map((tier) => ({ ...tier, isGone })))

/**
 * Gives stories the transfers that deliver them: several transfers to one story, and shares of one transfer to several.
 * All transactions count that the service named over time. Rulings and strong fits come first, over all stories; who
 * is served by one takes no part in weaker ones.
 * @param stories in the order in which they are served
 */
export function matchDeliveries(
  stories: readonly Story[],
  legs: readonly ChainLeg[],
  rulings: Rulings,
): Deliveries {
  const around = candidatesOf(stories, legs, rulings)
  const state: State = { open: new Set(stories), free: new Set(legs), of: new Map(), ambiguous: new Map() }
  for (const pass of passes) {
    const isHere = (leg: ChainLeg) => state.free.has(leg) && (leg.state === 'orphaned') === pass.isGone
    const contest = new Map(
      [...state.open].map((story) => {
        const candidates = (around.get(story) ?? []).filter(({ leg }) => isHere(leg))
        return [story, new Map(candidates.flatMap((candidate) => linkBy(pass, candidate)))]
      }),
    )
    for (const part of contestsOf(contest)) settle(state, part)
  }
  return { ...state, strays: [...state.free] }
}

function linkBy({ rule, isFit }: Tier, { leg, named, ruling }: Candidate): [ChainLeg, Link][] {
  if (ruling !== null) return [[leg, linkOf(leg, 'ruling', ruling)]]
  return named.some((one) => isFit(leg, one)) ? [[leg, linkOf(leg, rule)]] : []
}

type State = {
  open: Set<Story>
  free: Set<ChainLeg>
  of: Map<Story, readonly { leg: Delivery; link: Link }[]>
  ambiguous: Map<Story, Ambiguity>
}

function settle(state: State, contest: Contest): void {
  for (const outcome of settleContest(contest)) {
    const [stories, legs] = partsOf(outcome)
    for (const story of stories) state.open.delete(story)
    for (const leg of legs) state.free.delete(leg)
    if (outcome.kind === 'given') state.of.set(outcome.story, deliveriesOf(outcome, contest))
    else if (outcome.ambiguity !== null)
      for (const story of stories) state.ambiguous.set(story, outcome.ambiguity)
  }
}

function partsOf(outcome: Outcome): [Story[], ChainLeg[]] {
  if (outcome.kind === 'given') return [[outcome.story], outcome.parts.map(({ leg }) => leg)]
  return [[...outcome.contest.keys()], [...outcome.contest.values()].flatMap((links) => [...links.keys()])]
}

function deliveriesOf({ story, parts }: Extract<Outcome, { kind: 'given' }>, contest: Contest) {
  const stated = statedAmount(story)
  const isAll = parts.reduce((sum, { amount }) => sum + amount, 0n) === stated
  return parts.map(({ leg, amount }) => {
    const link = contest.get(story)?.get(leg) ?? linkOf(leg, 'transaction')
    const isWhole = parts.length === 1 && amount === leg.amount
    const exact = isWhole ? 'transaction and amount' : 'share'
    const rule = link.rule === 'transaction and address' && isAll ? exact : link.rule
    return { leg: { ...leg, amount: amount as Amount, whole: leg.amount }, link: { ...link, rule } }
  })
}

type Candidate = { leg: ChainLeg; named: readonly SettlementClaim[]; ruling: string | null }

/** What was ruled to belong to deposits is theirs alone; what was ruled to be apart from one is not its. */
function candidatesOf(
  stories: readonly Story[],
  legs: readonly ChainLeg[],
  rulings: Rulings,
): Map<Story, Candidate[]> {
  const together = legs.flatMap((leg) => rulings.togetherWith(leg))
  const ruled = Map.groupBy(together, ({ serviceId }) => serviceId)
  const reserved = new Set(together.map(({ leg }) => leg))
  const byTx = Map.groupBy(
    legs.filter((leg) => !reserved.has(leg)),
    ({ tx }) => tx,
  )
  const placeOf = new Map(legs.map((leg, place) => [leg, place]))
  const inOrder = (one: Candidate, other: Candidate) =>
    (placeOf.get(one.leg) ?? 0) - (placeOf.get(other.leg) ?? 0)
  return new Map(
    stories.map((story) => {
      const named = namedBy(story).flatMap(([tx, claims]) =>
        (byTx.get(tx) ?? [])
          .filter((leg) => !rulings.isApart(story.serviceId, leg))
          .map((leg): Candidate => ({ leg, named: claims, ruling: null })),
      )
      return [story, [...ruledOf(story.serviceId, ruled), ...named].toSorted(inOrder)]
    }),
  )
}

function ruledOf(id: ServiceId, ruled: ReadonlyMap<ServiceId, readonly Together[]>): Candidate[] {
  return (ruled.get(id) ?? []).map(({ leg, ruling }) => ({ leg, named: [], ruling: ruling.id }))
}

/** Every delivery that the service named for the deposit over time, by its transaction. */
function namedBy({ words }: Story): [ChainLeg['tx'], SettlementClaim[]][] {
  const named = [...words.api, ...words.webhook].flatMap(({ settlement }) => settlement ?? [])
  const byTx = Map.groupBy(named, ({ tx }) => tx)
  return [...byTx].flatMap(([tx, claims]) => (tx === null ? [] : [[tx, claims]]))
}

function isAt(leg: ChainLeg, named: SettlementClaim): boolean {
  return leg.network === named.network && leg.to === named.address
}
