import type { AssetKey } from '../asset.ts'
import type { ServiceId, TransferRef } from '../evidence.ts'
import { components } from './components.ts'
import { type ChainLeg, type ClaimHistory, claimOf } from './fold.ts'
import type { TransferLink } from './link.ts'
import { share } from './share.ts'

/** By what a story may have a part in a delivery. */
export type Basis = Pick<TransferLink, 'rule' | 'ruling'>

/** Stories, and of each the deliveries that it may have a part in. */
export type Contest = ReadonlyMap<ClaimHistory, ReadonlyMap<ChainLeg, Basis>>

/** Deposits that share deliveries which do not add up to what is stated of them. */
export type DeliveryAmbiguity = {
  /** Null where the service does not state it of all of them. */
  stated: bigint | null
  delivered: bigint
  /** Of both; null if they are of several assets. */
  asset: AssetKey | null
  deposits: readonly ServiceId[]
  transfers: readonly TransferRef[]
}

export type ContestOutcome =
  | { kind: 'given'; story: ClaimHistory; parts: readonly { leg: ChainLeg; amount: bigint }[] }
  /** Nobody gets any of it. The ambiguity is null as long as more may come, or be stated, that clears it. */
  | { kind: 'left'; contest: Contest; ambiguity: DeliveryAmbiguity | null }

/** Divides a contest into those that have no transfer in common. */
export function contestsOf(all: Contest): Contest[] {
  const contest = [...all].filter(([, links]) => links.size > 0)
  return components(contest, ([, links]) => links.keys()).map((part) => new Map(part))
}

/**
 * Who stands alone with transfers takes them. Several share theirs if what is stated of them adds up to them exactly.
 * If it does not, doubtful stories step back behind the others; then those are served whose amount is there exactly,
 * and what then still does not add up is nobody's.
 */
export function settleContest(contest: Contest, doubtful: ReadonlySet<ClaimHistory>): ContestOutcome[] {
  const [first, second] = contest.keys()
  if (first === undefined) return []
  if (second === undefined) return [{ kind: 'given', story: first, parts: takeAlone(contest, first) }]
  const served = shareAll(contest) ?? settleSure(contest, doubtful) ?? serveExact(contest)
  if (served.length === 0) return [{ kind: 'left', contest, ambiguity: ambiguityOf(contest) }]
  const stories = new Set(served.flatMap(storiesOf))
  const legs = new Set(served.flatMap(legsOf))
  const rest = restrict(
    contest,
    (story) => !stories.has(story),
    (leg) => !legs.has(leg),
  )
  return [...served, ...contestsOf(rest).flatMap((part) => settleContest(part, doubtful))]
}

/** Settles it without its doubtful stories; null where it has none, or has no others. */
function settleSure(contest: Contest, doubtful: ReadonlySet<ClaimHistory>): ContestOutcome[] | null {
  const sure = restrict(contest, (story) => !doubtful.has(story))
  if (sure.size === 0 || sure.size === contest.size) return null
  return contestsOf(sure).flatMap((part) => settleContest(part, doubtful))
}

/** The stories that an outcome decides. */
export function storiesOf(outcome: ContestOutcome): ClaimHistory[] {
  return outcome.kind === 'given' ? [outcome.story] : [...outcome.contest.keys()]
}

/** The transfers that an outcome decides. */
export function legsOf(outcome: ContestOutcome): ChainLeg[] {
  return outcome.kind === 'given' ? outcome.parts.map(({ leg }) => leg) : legsIn(outcome.contest)
}

/** What the service says that the deposit is delivered by; null where it does not say. */
export function statedAmount(story: ClaimHistory): bigint | null {
  const claims = [claimOf(story), story.api, story.webhook]
  return claims.map((claim) => claim?.settlement?.amount ?? null).find((amount) => amount !== null) ?? null
}

type ContestAward = Extract<ContestOutcome, { kind: 'given' }>

/**
 * All of its transfers, unless one transaction holds several of them: a transfer of the very amount is the story's then,
 * or the one that was ruled to be, and the others are somebody else's.
 */
function takeAlone(contest: Contest, story: ClaimHistory): ContestAward['parts'] {
  const links = contest.get(story) ?? new Map<ChainLeg, Basis>()
  const legs = [...links.keys()]
  const wanted = statedAmount(story)
  const isAll = total(legs) === wanted
  const kept = [...Map.groupBy(legs, transactionOf).values()].flatMap((together) => {
    const ruled = together.filter((leg) => links.get(leg)?.rule === 'ruling')
    const exact = together.find(({ amount }) => amount === wanted)
    if (isAll || (ruled.length === 0 && exact === undefined)) return together
    return ruled.length > 0 ? ruled : [exact].filter((leg) => leg !== undefined)
  })
  return kept.map((leg) => ({ leg, amount: leg.amount }))
}

function shareAll(contest: Contest): ContestAward[] | null {
  const legs = legsIn(contest)
  const isOneAsset = new Set(legs.map(({ network, asset, to }) => `${network} ${asset} ${to}`)).size === 1
  return isOneAsset && statedOf(contest) === total(legs) ? divideShares(contest) : null
}

/** Those whose stated amounts are there, each in a transfer of its own; of one transaction there may be more of them. */
function serveExact(contest: Contest): ContestAward[] {
  const exact = restrict(
    contest,
    () => true,
    (leg, story) => leg.amount === statedAmount(story),
  )
  return contestsOf(exact).flatMap((part) => {
    const legs = legsIn(part)
    const isAmple =
      new Set(legs.map(transactionOf)).size === 1 ? part.size <= legs.length : part.size === legs.length
    return isAmple ? (divideShares(part) ?? []) : []
  })
}

function divideShares(contest: Contest): ContestAward[] | null {
  const shares = share<ClaimHistory, ChainLeg>({
    takers: [...contest.keys()],
    sources: legsIn(contest),
    wants: (story) => statedAmount(story) ?? 0n,
    holds: ({ amount }) => amount,
    sourcesOf: (story) => [...(contest.get(story)?.keys() ?? [])],
  })
  if (shares === null) return null
  return [...shares].map(([story, parts]) => ({
    kind: 'given',
    story,
    parts: [...parts].map(([leg, amount]) => ({ leg, amount })),
  }))
}

/** More may be delivered, or stated, as long as the service has not finished with all of them. */
function ambiguityOf(contest: Contest): DeliveryAmbiguity | null {
  const stories = [...contest.keys()]
  const legs = legsIn(contest)
  const [stated, delivered] = [statedOf(contest), total(legs)]
  const isFinished = stories.every((story) => claimOf(story)?.status === 'settled')
  if (!isFinished && (stated === null || stated > delivered)) return null
  const deposits = stories.map(({ serviceId }) => serviceId).toSorted()
  const assets = new Set(legs.map(({ asset }) => asset))
  const [asset = null] = assets.size === 1 ? assets : []
  return { stated, delivered, asset, deposits, transfers: legs.map(({ ref }) => ref).toSorted() }
}

function statedOf(contest: Contest): bigint | null {
  const amounts = [...contest.keys()].map(statedAmount)
  return amounts.reduce((sum, amount) => (sum === null || amount === null ? null : sum + amount), 0n)
}

function legsIn(contest: Contest): ChainLeg[] {
  const legs = new Set<ChainLeg>()
  for (const links of contest.values()) for (const leg of links.keys()) legs.add(leg)
  return [...legs]
}

function restrict(
  contest: Contest,
  isStory: (story: ClaimHistory) => boolean,
  isLeg: (leg: ChainLeg, story: ClaimHistory) => boolean = () => true,
): Contest {
  const stories = [...contest].filter(([story]) => isStory(story))
  return new Map(
    stories.map(([story, links]) => [story, new Map([...links].filter(([leg]) => isLeg(leg, story)))]),
  )
}

function transactionOf({ network, tx }: ChainLeg): string {
  return `${network}/${tx}`
}

function total(legs: readonly ChainLeg[]): bigint {
  return legs.reduce((sum, { amount }) => sum + amount, 0n)
}
