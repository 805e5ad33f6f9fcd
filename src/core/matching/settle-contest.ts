import type { AssetKey } from '../asset.ts'
import type { ServiceId, TransferRef } from '../evidence.ts'
import { allocate } from './allocate.ts'
import { components } from './components.ts'
import { type ChainLeg, type ClaimHistory, claimOf, total } from './fold.ts'
import type { TransferLink } from './link.ts'

/** Why a history may have a share of a delivery. */
export type Basis = Pick<TransferLink, 'rule' | 'decision'>

/** The deliveries of which each history may have a share. */
export type Contest = ReadonlyMap<ClaimHistory, ReadonlyMap<ChainLeg, Basis>>

/** Shared deliveries that do not add up to the stated amounts. */
export type DeliveryAmbiguity = {
  /** Null if any stated amount is missing. */
  stated: bigint | null
  delivered: bigint
  /** Null if there are several assets. */
  asset: AssetKey | null
  deposits: readonly ServiceId[]
  transfers: readonly TransferRef[]
}

export type ContestOutcome =
  | { kind: 'matched'; claimHistory: ClaimHistory; parts: readonly { leg: ChainLeg; amount: bigint }[] }
  /** The ambiguity is null while further deliveries or statements may still resolve it. */
  | { kind: 'unresolved'; contest: Contest; ambiguity: DeliveryAmbiguity | null }

export function contestsOf(all: Contest): Contest[] {
  const contest = [...all].filter(([, links]) => links.size > 0)
  return components(contest, ([, links]) => links.keys()).map((part) => new Map(part))
}

/**
 * Histories share transfers if their stated amounts add up exactly. Otherwise, doubtful histories yield; then histories
 * whose exact amount is available are served, and the rest stays unassigned.
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
  const rest = restrict(contest, (claimHistory, leg) => !claimHistories.has(claimHistory) && !legs.has(leg))
  return [...served, ...contestsOf(rest).flatMap((part) => settleContest(part, doubtful))]
}

/** Without its doubtful histories; null if it has none, or no others. */
function settleSure(contest: Contest, doubtful: ReadonlySet<ClaimHistory>): ContestOutcome[] | null {
  const sure = restrict(contest, (claimHistory) => !doubtful.has(claimHistory))
  if (sure.size === 0 || sure.size === contest.size) return null
  return contestsOf(sure).flatMap((part) => settleContest(part, doubtful))
}

export function claimHistoriesOf(outcome: ContestOutcome): ClaimHistory[] {
  return outcome.kind === 'matched' ? [outcome.claimHistory] : [...outcome.contest.keys()]
}

export function legsOf(outcome: ContestOutcome): ChainLeg[] {
  return outcome.kind === 'matched' ? outcome.parts.map(({ leg }) => leg) : legsIn(outcome.contest)
}

export function statedAmount(claimHistory: ClaimHistory): bigint | null {
  const claims = [claimOf(claimHistory), claimHistory.api, claimHistory.webhook]
  return claims.map((claim) => claim?.settlement?.amount ?? null).find((amount) => amount !== null) ?? null
}

type ContestAward = Extract<ContestOutcome, { kind: 'matched' }>

/**
 * Of several transfers in one transaction, the history gets the one of the exact amount, or those that a decision
 * assigned to it.
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

/** Each transfer serves one history. A transaction may hold more such transfers than there are histories. */
function serveExact(contest: Contest): ContestAward[] {
  const exact = restrict(contest, (claimHistory, leg) => leg.amount === statedAmount(claimHistory))
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

/** Null while more may be delivered or stated. */
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

/** Without histories that no link is left for. */
function restrict(
  contest: Contest,
  isLinked: (claimHistory: ClaimHistory, leg: ChainLeg) => boolean,
): Contest {
  const rest = [...contest].map(([claimHistory, links]) => {
    const left = [...links].filter(([leg]) => isLinked(claimHistory, leg))
    return [claimHistory, new Map(left)] as const
  })
  return new Map(rest.filter(([, links]) => links.size > 0))
}

function transactionOf({ network, tx }: ChainLeg): string {
  return `${network}/${tx}`
}
