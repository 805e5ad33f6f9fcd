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
  for (const lot of lots) {
    const taken = magnitudeOf(left) < magnitudeOf(lot.units) ? left : lot.units
    const cost = taken === lot.units ? lot.cost : roundHalfEven(lot.cost * taken, lot.units)
    if (taken !== 0n) first.push({ ...lot, units: taken, cost })
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

/** What leaves an account, and what its pool has left. */
export function takeOut(pool: readonly Lot[], removal: Removal): { taken: Lot[]; left: Lot[] } {
  const candidates = pool.filter(({ units }) => units < 0n === removal.units < 0n)
  const others = pool.filter((lot) => !candidates.includes(lot))
  const { taken, left } =
    removal.method === 'average' ? takeAverage(candidates, removal) : takeOldest(candidates, removal)
  return { taken, left: [...others, ...left] }
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

function takeOldest(lots: readonly Lot[], { account, units, reversed }: Removal) {
  const isFirst = ({ origin }: Lot) => origin === reversed?.origin
  const { first, rest } = cut(
    [...inOrder(lots.filter(isFirst)), ...inOrder(lots.filter((lot) => !isFirst(lot)))],
    units,
  )
  const taken = first.map((lot) => ({ ...lot, account }))
  return { taken, left: exchanged(first, rest, account) }
}

function inOrder(lots: readonly Lot[]): Lot[] {
  return lots.toSorted(
    (one, other) =>
      (one.acquiredAt?.getTime() ?? 0) - (other.acquiredAt?.getTime() ?? 0) ||
      Number(one.origin - other.origin),
  )
}

/** Of lots that lay in other accounts of the pool, these get as many units from the account that gives them away. */
function exchanged(taken: readonly Lot[], left: readonly Lot[], account: string): Lot[] {
  let lots = [...left]
  for (const piece of taken.filter((lot) => lot.account !== account)) {
    const { first, rest } = cut(
      lots.filter((lot) => lot.account === account),
      piece.units,
    )
    const moved = first.map((lot) => ({ ...lot, account: piece.account }))
    lots = [...lots.filter((lot) => lot.account !== account), ...rest, ...moved]
  }
  return merged(lots)
}

export function putIn(pool: readonly Lot[], lots: readonly Lot[], method: CostBasis['method']): Lot[] {
  const all = merged([...pool, ...lots])
  if (method === 'fifo') return all
  const isDebit = ({ units }: Lot) => units > 0n
  return [all.filter(isDebit), all.filter((lot) => !isDebit(lot))].flatMap((side) =>
    spread(side, sumOf(side).cost),
  )
}

/** Of each account and origin one lot. */
function merged(lots: readonly Lot[]): Lot[] {
  const same = Map.groupBy(lots, ({ account, origin }) => `${account} ${origin}`)
  return [...same.values()].map((some) => ({ ...(some[0] as Lot), ...sumOf(some) }))
}

/** Of each account one lot, all at the same cost per unit. */
function spread(lots: readonly Lot[], cost: bigint): Lot[] {
  const accounts = [...Map.groupBy(lots, ({ account }) => account).values()].map(averagedLot)
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
