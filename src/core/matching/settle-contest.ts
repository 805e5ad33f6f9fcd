import type { AssetKey } from '../asset.ts'
import type { ServiceId, TransferRef } from '../evidence.ts'
import { allocate } from './allocate.ts'
import { components } from './components.ts'
import { type ChainLeg, type ClaimHistory, claimOf } from './fold.ts'
import type { TransferLink } from './link.ts'

/** Why a claim history may have a share of a delivery. */
export type Basis = Pick<TransferLink, 'rule' | 'decision'>

/** Claim histories, each with the deliveries of which it may have a share. */
export type Contest = ReadonlyMap<ClaimHistory, ReadonlyMap<ChainLeg, Basis>>

/** Deposits whose shared deliveries do not add up to their stated amounts. */
export type DeliveryAmbiguity = {
  /** Null if the service does not state an amount for each of them. */
  stated: bigint | null
  delivered: bigint
  /** The asset of both amounts; null if there are several assets. */
  asset: AssetKey | null
  deposits: readonly ServiceId[]
  transfers: readonly TransferRef[]
}

export type ContestOutcome =
  | { kind: 'matched'; claimHistory: ClaimHistory; parts: readonly { leg: ChainLeg; amount: bigint }[] }
  /** No deposit gets any of it. The ambiguity is null while further deliveries or statements may still resolve it. */
  | { kind: 'unresolved'; contest: Contest; ambiguity: DeliveryAmbiguity | null }

/** Divides a contest into contests that have no transfer in common. */
export function contestsOf(all: Contest): Contest[] {
  const contest = [...all].filter(([, links]) => links.size > 0)
  return components(contest, ([, links]) => links.keys()).map((part) => new Map(part))
}

/**
 * A history without rivals takes its transfers. Several histories share theirs if their stated amounts add up to them
 * exactly. Otherwise, doubtful histories yield to the others. Then the histories whose exact amount is available are
 * served, and transfers that still do not add up stay unassigned.
 */
export function settleContest(contest: Contest, doubtful: ReadonlySet<ClaimHistory>): ContestOutcome[] {
  const [first, second] = contest.keys()
  if (first === undefined) return []
  if (second === undefined)
    return [{ kind: 'matched', claimHistory: first, parts: takeAlone(contest, first) }]
  const served = shareAll(contest) ?? settleSure(contest, doubtful) ?? serveExact(contest)
  if (served.length === 0) return [{ kind: 'unresolved', contest, ambiguity: ambiguityOf(contest) }]
  const claimHistories = new Set(served.flatMap(claimHistoriesOf))
  const legs = new Set(served.flatMap(legsOf))
  const rest = restrict(
    contest,
    (claimHistory) => !claimHistories.has(claimHistory),
    (leg) => !legs.has(leg),
  )
  return [...served, ...contestsOf(rest).flatMap((part) => settleContest(part, doubtful))]
}

/** Settles the contest without its doubtful histories; null if it has none, or has no others. */
function settleSure(contest: Contest, doubtful: ReadonlySet<ClaimHistory>): ContestOutcome[] | null {
  const sure = restrict(contest, (claimHistory) => !doubtful.has(claimHistory))
  if (sure.size === 0 || sure.size === contest.size) return null
  return contestsOf(sure).flatMap((part) => settleContest(part, doubtful))
}

/** The claim histories that an outcome decides. */
export function claimHistoriesOf(outcome: ContestOutcome): ClaimHistory[] {
  return outcome.kind === 'matched' ? [outcome.claimHistory] : [...outcome.contest.keys()]
}

/** The transfers that an outcome decides. */
export function legsOf(outcome: ContestOutcome): ChainLeg[] {
  return outcome.kind === 'matched' ? outcome.parts.map(({ leg }) => leg) : legsIn(outcome.contest)
}

/** The delivered amount that the service states; null if it states none. */
export function statedAmount(claimHistory: ClaimHistory): bigint | null {
  const claims = [claimOf(claimHistory), claimHistory.api, claimHistory.webhook]
  return claims.map((claim) => claim?.settlement?.amount ?? null).find((amount) => amount !== null) ?? null
}

type ContestAward = Extract<ContestOutcome, { kind: 'matched' }>

/**
 * All of its transfers, unless one transaction holds several of them. The history then gets the transfer of the exact
 * amount, or those that a decision assigned to it, and the others belong to other deposits.
 */
function takeAlone(contest: Contest, claimHistory: ClaimHistory): ContestAward['parts'] {
  const links = contest.get(claimHistory) ?? new Map<ChainLeg, Basis>()
  const legs = [...links.keys()]
  const wanted = statedAmount(claimHistory)
  const isAll = total(legs) === wanted
  const taken = [...Map.groupBy(legs, transactionOf).values()].flatMap((together) => {
    const ruled = together.filter((leg) => links.get(leg)?.rule === 'decision')
    const exact = together.find(({ amount }) => amount === wanted)
    if (isAll || (ruled.length === 0 && exact === undefined)) return together
    return ruled.length > 0 ? ruled : [exact].filter((leg) => leg !== undefined)
  })
  return taken.map((leg) => ({ leg, amount: leg.amount }))
}

function shareAll(contest: Contest): ContestAward[] | null {
  const legs = legsIn(contest)
  const isOneAsset = new Set(legs.map(({ network, asset, to }) => `${network} ${asset} ${to}`)).size === 1
  return isOneAsset && statedOf(contest) === total(legs) ? divideShares(contest) : null
}

/**
 * Serves the histories whose stated amounts are available, each as a transfer of its own. A single transaction may hold
 * more such transfers than there are histories.
 */
function serveExact(contest: Contest): ContestAward[] {
  const exact = restrict(
    contest,
    () => true,
    (leg, claimHistory) => leg.amount === statedAmount(claimHistory),
  )
  return contestsOf(exact).flatMap((part) => {
    const legs = legsIn(part)
    const isAmple =
      new Set(legs.map(transactionOf)).size === 1 ? part.size <= legs.length : part.size === legs.length
    return isAmple ? (divideShares(part) ?? []) : []
  })
}

function divideShares(contest: Contest): ContestAward[] | null {
  const shares = allocate<ClaimHistory, ChainLeg>({
    takers: [...contest.keys()],
    sources: legsIn(contest),
    wants: (claimHistory) => statedAmount(claimHistory) ?? 0n,
    holds: ({ amount }) => amount,
    sourcesOf: (claimHistory) => [...(contest.get(claimHistory)?.keys() ?? [])],
  })
  if (shares === null) return null
  return [...shares].map(([claimHistory, parts]) => ({
    kind: 'matched',
    claimHistory,
    parts: [...parts].map(([leg, amount]) => ({ leg, amount })),
  }))
}

/** Null while more may be delivered or stated, because the service has not finished with all of them. */
function ambiguityOf(contest: Contest): DeliveryAmbiguity | null {
  const claimHistories = [...contest.keys()]
  const legs = legsIn(contest)
  const [stated, delivered] = [statedOf(contest), total(legs)]
  const isFinished = claimHistories.every((claimHistory) => claimOf(claimHistory)?.status === 'settled')
  if (!isFinished && (stated === null || stated > delivered)) return null
  const deposits = claimHistories.map(({ serviceId }) => serviceId).toSorted()
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
  isClaimHistory: (claimHistory: ClaimHistory) => boolean,
  isLeg: (leg: ChainLeg, claimHistory: ClaimHistory) => boolean = () => true,
): Contest {
  const claimHistories = [...contest].filter(([claimHistory]) => isClaimHistory(claimHistory))
  return new Map(
    claimHistories.map(([claimHistory, links]) => [
      claimHistory,
      new Map([...links].filter(([leg]) => isLeg(leg, claimHistory))),
    ]),
  )
}

function transactionOf({ network, tx }: ChainLeg): string {
  return `${network}/${tx}`
}

function total(legs: readonly ChainLeg[]): bigint {
  return legs.reduce((sum, { amount }) => sum + amount, 0n)
}
