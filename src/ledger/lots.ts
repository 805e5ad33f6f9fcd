import { matchesPattern } from '../core/chart.ts'
import { magnitudeOf, roundHalfEven } from '../core/value.ts'

/** `average`: all units of a pool have the same cost. */
export const costMethods = ['fifo', 'average'] as const
/** `asset`: all own accounts share one pool per asset. */
export const costPools = ['account', 'asset'] as const

export type CostBasis = {
  /** Patterns of the accounts with own funds. */
  own: readonly string[]
  method: (typeof costMethods)[number]
  pool: (typeof costPools)[number]
}

export function isOwn(account: string, { own }: Pick<CostBasis, 'own'>): boolean {
  return own.some((pattern) => matchesPattern(account, pattern))
}

/** Units of an asset with what they are carried at. Units and cost are negative in a credit balance. */
export type Lot = {
  account: string
  asset: string
  /** Only of a trading account, which holds the position of each deposit apart. */
  depositId: bigint | null
  /** The journal that acquired them; 0 of averaged units. */
  origin: bigint
  /** Null of averaged units. */
  acquiredAt: Date | null
  units: bigint
  /** In the smallest coins of the currency. */
  cost: bigint
}

/** The first units, and the rest. A divided lot keeps its cost in proportion; nothing is lost. */
export function cut(lots: readonly Lot[], units: bigint): { first: Lot[]; rest: Lot[] } {
  const [first, rest]: [Lot[], Lot[]] = [[], []]
  let left = units
  for (const [place, lot] of lots.entries()) {
    if (left === 0n) return { first, rest: [...rest, ...lots.slice(place)] }
    const taken = magnitudeOf(left) < magnitudeOf(lot.units) ? left : lot.units
    const cost = taken === lot.units ? lot.cost : roundHalfEven(lot.cost * taken, lot.units)
    first.push({ ...lot, units: taken, cost })
    if (taken !== lot.units) rest.push({ ...lot, units: lot.units - taken, cost: lot.cost - cost })
    left -= taken
  }
  return { first, rest }
}

export type Removal = {
  account: string
  /** With the sign of the lots, and no more than the account holds. */
  units: bigint
  method: CostBasis['method']
  /** Of a reversal: the journal whose lots leave first, and the cost of averaged units. */
  reversed: { origin: bigint; cost: bigint } | null
}

/**
 * Lots that share their costs, with the sums of each account: a pool may have many lots. No lot has an origin above
 * `newest`.
 */
export type Pool = { lots: readonly Lot[]; sums: ReadonlyMap<string, AccountSum>; newest: bigint }

type AccountSum = Pick<Lot, 'account' | 'asset' | 'units' | 'cost'>

export const noLots: Pool = { lots: [], sums: new Map(), newest: 0n }

/** What accounts gain or lose of each lot. */
export function lotChanges(before: Pool, after: Pool): Lot[] {
  const [were, are] = [new Set(before.lots), new Set(after.lots)]
  const gone = [...were.difference(are)].map((lot) => ({ ...lot, units: -lot.units, cost: -lot.cost }))
  return merged([...gone, ...are.difference(were)]).filter(({ units, cost }) => units !== 0n || cost !== 0n)
}

export function poolOf(lots: readonly Lot[]): Pool {
  const accounts = Map.groupBy(lots, ({ account }) => account)
  return {
    lots,
    newest: newestOf(lots),
    sums: new Map(
      [...accounts].map(([account, own]) => [
        account,
        { account, asset: (own[0] as Lot).asset, ...sumOf(own) },
      ]),
    ),
  }
}

function newestOf(lots: readonly Pick<Lot, 'origin'>[]): bigint {
  return lots.reduce((newest, { origin }) => (origin > newest ? origin : newest), 0n)
}

/** How much more each account is carried at afterwards. */
export function costChanges({ sums: before }: Pool, { sums: after }: Pool): AccountSum[] {
  return [...new Map([...before, ...after]).values()].map((sum) => {
    const [was, is] = [before.get(sum.account), after.get(sum.account)]
    return { ...sum, cost: (is?.cost ?? 0n) - (was?.cost ?? 0n) }
  })
}

/** What leaves an account, and what its pool has left. */
export function takeOut(pool: Pool, removal: Removal): { taken: Lot[]; left: Pool } {
  const isSameSide = ({ units }: Lot) => units < 0n === removal.units < 0n
  const candidates = pool.lots.filter(isSameSide)
  const others = pool.lots.filter((lot) => !isSameSide(lot))
  if (removal.method === 'fifo') return takeOldest(pool, { candidates, others }, removal)
  const { taken, left } = takeAverage(candidates, removal)
  return { taken, left: poolOf([...others, ...left]) }
}

function takeAverage(lots: readonly Lot[], { account, units, reversed }: Removal) {
  const all = sumOf(lots)
  const { first, rest } = cut(
    lots.filter((lot) => lot.account === account),
    units,
  )
  const average = roundHalfEven(all.cost * units, all.units)
  const cost = units === all.units ? all.cost : within(reversed?.cost ?? average, all.cost)
  const left = [...lots.filter((lot) => lot.account !== account), ...rest]
  const taken = { ...averagedLot(first), units, cost }
  return { taken: [taken], left: spread(left, all.cost - cost) }
}

/** Not beyond zero, and not more than there is. */
function within(cost: bigint, all: bigint): bigint {
  if (cost < 0n !== all < 0n) return 0n
  return magnitudeOf(cost) > magnitudeOf(all) ? all : cost
}

function takeOldest(
  { sums, newest }: Pool,
  { candidates, others }: { candidates: readonly Lot[]; others: readonly Lot[] },
  { account, units, reversed }: Removal,
): { taken: Lot[]; left: Pool } {
  const isFirst = ({ origin }: Lot) => origin === reversed?.origin
  const { first, rest } = cut(
    [...inOrder(candidates.filter(isFirst)), ...inOrder(candidates.filter((lot) => !isFirst(lot)))],
    units,
  )
  const taken = first.map((lot) => ({ ...lot, account }))
  if (first.some((lot) => lot.account !== account))
    return { taken, left: poolOf([...others, ...exchanged(first, rest, account)]) }
  return { taken, left: { lots: [...others, ...rest], sums: changed(sums, taken, -1n), newest } }
}

/** @param sign 1 if the lots are added, -1 if they are taken out */
function changed(sums: Pool['sums'], lots: readonly Lot[], sign: bigint): Pool['sums'] {
  const after = new Map(sums)
  for (const { account, asset, units, cost } of lots) {
    const before = after.get(account) ?? { units: 0n, cost: 0n }
    after.set(account, {
      account,
      asset,
      units: before.units + sign * units,
      cost: before.cost + sign * cost,
    })
  }
  return after
}

/** However they were loaded. */
function inOrder(lots: readonly Lot[]): Lot[] {
  return lots.toSorted(
    (one, other) =>
      (one.acquiredAt?.getTime() ?? 0) - (other.acquiredAt?.getTime() ?? 0) ||
      Number(one.origin - other.origin) ||
      compareText(one.account, other.account),
  )
}

function compareText(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1
}

/** Of lots that lay in other accounts of the pool, these get as many units from the account that gives them away. */
function exchanged(taken: readonly Lot[], left: readonly Lot[], account: string): Lot[] {
  const { own = [], others = [] } = Object.groupBy(left, (lot) =>
    lot.account === account ? 'own' : 'others',
  )
  const moved: Lot[] = []
  let kept = own
  for (const piece of taken.filter((lot) => lot.account !== account)) {
    const { first, rest } = cut(kept, piece.units)
    moved.push(...first.map((lot) => ({ ...lot, account: piece.account })))
    kept = rest
  }
  return [...kept, ...added(others, moved)]
}

/** Of each lot one. */
function added(held: readonly Lot[], lots: readonly Lot[]): Lot[] {
  const isKnown = (one: Lot) => lots.some((lot) => isSameLot(one, lot))
  const known = held.filter(isKnown)
  const others = known.length === 0 ? held : held.filter((lot) => !isKnown(lot))
  return [...others, ...merged([...known, ...lots])]
}

export function putIn(pool: Pool, lots: readonly Lot[], method: CostBasis['method']): Pool {
  if (method === 'fifo') {
    const isNew = lots.every(({ origin }) => origin > pool.newest)
    return {
      lots: isNew ? [...pool.lots, ...merged(lots)] : added(pool.lots, lots),
      sums: changed(pool.sums, lots, 1n),
      newest: newestOf([{ origin: pool.newest }, ...lots]),
    }
  }
  const all = merged([...pool.lots, ...lots])
  const isDebit = ({ units }: Lot) => units > 0n
  const sides = [all.filter(isDebit), all.filter((lot) => !isDebit(lot))]
  return poolOf(sides.flatMap((side) => spread(side, sumOf(side).cost)))
}

/** Without a text, because a pool may have many lots. */
function isSameLot(one: Lot, other: Lot): boolean {
  return (
    one.origin === other.origin &&
    one.account === other.account &&
    one.acquiredAt?.getTime() === other.acquiredAt?.getTime()
  )
}

/** Of lots that `isSameLot` holds for. An opening may have acquired several. */
function keyOf({ account, origin, acquiredAt }: Lot): string {
  return `${account} ${origin} ${acquiredAt?.getTime()}`
}

function merged(lots: readonly Lot[]): Lot[] {
  const same = Map.groupBy(lots, keyOf)
  return [...same.values()].map((some) => ({ ...(some[0] as Lot), ...sumOf(some) }))
}

/** Of each account one lot, all at the same cost per unit. */
function spread(lots: readonly Lot[], cost: bigint): Lot[] {
  const accounts = [...Map.groupBy(lots, ({ account }) => account).values()]
    .map(averagedLot)
    .toSorted((one, other) => compareText(one.account, other.account))
  let left = accounts.length === 0 ? [] : [{ ...averagedLot(accounts), cost }]
  return accounts.flatMap(({ account, units }) => {
    const { first, rest } = cut(left, units)
    left = rest
    return first.map((lot) => ({ ...lot, account }))
  })
}

function averagedLot(lots: readonly Lot[]): Lot {
  return { ...(lots[0] as Lot), origin: 0n, acquiredAt: null, ...sumOf(lots) }
}

export function sumOf(lots: readonly { units: bigint; cost: bigint }[]): { units: bigint; cost: bigint } {
  return {
    units: lots.reduce((sum, { units }) => sum + units, 0n),
    cost: lots.reduce((sum, { cost }) => sum + cost, 0n),
  }
}

/** Each lot has its share; the shares add up. */
export function withProceeds(
  lots: readonly Lot[],
  proceeds: bigint,
): (Omit<Lot, 'depositId'> & { proceeds: bigint })[] {
  let left = lots.slice(0, 1).map((lot) => ({ ...lot, ...sumOf(lots), cost: proceeds }))
  return lots.map(({ account, asset, origin, acquiredAt, units, cost }) => {
    const { first, rest } = cut(left, units)
    left = rest
    return { account, asset, origin, acquiredAt, units, cost, proceeds: sumOf(first).cost }
  })
}

/** The part of what is held that a change takes away. */
export function releasedOf(held: bigint, change: bigint): bigint {
  if (held === 0n || held < 0n === change < 0n) return 0n
  return magnitudeOf(change) < magnitudeOf(held) ? -change : held
}
