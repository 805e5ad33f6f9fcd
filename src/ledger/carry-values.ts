import { accounts, gainAccounts, roundingAccount } from '../core/chart.ts'
import { noValue, plus, roundHalfEven } from '../core/value.ts'
import {
  type CostBasis,
  costChanges,
  cut,
  isOwn,
  type Lot,
  type Pool,
  poolOf,
  putIn,
  releasedOf,
  sumOf,
  takeOut,
  withProceeds,
} from './lots.ts'
import { isTrading, type LotPlace, type Pools, poolKey } from './pools.ts'
import type { Disposal, JournalToValue, UnitChange, ValuedJournal, ValuedLine } from './valued-journal.ts'

/** Never all of them: there may be many. */
type PoolsBefore = Pick<Pools, 'get' | 'ofDeposit'>

/** `pools` are those that the journal changed, by their keys. */
export type CarriedJournal = ValuedJournal & { pools: ReadonlyMap<string, Pool> }

/**
 * Units enter at their market value and leave at what they are carried at; the difference is a realised gain. Units
 * that move between accounts of the same kind keep what they are carried at. Income, expenses and equity are always at
 * market, but equity has what the own units of an opening cost less or more. A reversal takes back the values of its
 * journal.
 */
export function carryValues(journal: JournalToValue, pools: PoolsBefore, basis: CostBasis): CarriedJournal {
  const carrier = new Carrier(journal, pools, basis)
  for (const change of journal.changes) carrier.release(change)
  for (const change of journal.changes) carrier.build(change)
  carrier.closeExchange()
  return carrier.result()
}

class Carrier {
  readonly #journal: JournalToValue
  readonly #pools: PoolsBefore
  readonly #basis: CostBasis
  readonly #changed = new Map<string, Pool>()
  /** What left each account that was changed. */
  readonly #left = new Map<UnitChange, { units: bigint; cost: bigint }>()
  /** What left accounts and did not arrive in others, by kind of account, side and owner. */
  readonly #released = new Map<string, readonly Lot[]>()
  readonly #atMarket: ValuedLine[] = []
  /** What the units of an opening cost beyond their market value, by asset. */
  readonly #beyondMarket = new Map<string, bigint>()
  /** Exact values less the rounded ones. */
  #residue = noValue

  constructor(journal: JournalToValue, pools: PoolsBefore, basis: CostBasis) {
    this.#journal = journal
    this.#pools = pools
    this.#basis = basis
  }

  release(change: UnitChange): void {
    const { account } = change
    const units = releasedOf(this.#held(change), change.units)
    if (!isCarried(account) || units === 0n) return
    const { reverses } = this.#journal
    const { taken, left } = takeOut(this.#pool(change), {
      account,
      units,
      method: this.#methodOf(account),
      reversed: reverses && { origin: reverses.id, cost: this.#costIn(reverses, change) },
    })
    this.#keep(change, left)
    this.#left.set(change, sumOf(taken))
    const side = sideOf(change, units, isOwn(account, this.#basis))
    this.#released.set(side, [...(this.#released.get(side) ?? []), ...taken])
  }

  build(change: UnitChange): void {
    const { account, asset } = change
    const left = this.#left.get(change) ?? { units: 0n, cost: 0n }
    const units = change.units + left.units
    if (units === 0n) return
    if (!isCarried(account)) {
      this.#atMarket.push({ account, asset, units, value: this.#enter(change, units, 0n) })
      return
    }
    const returned = this.#givenAway(change, units)
    const stated = this.#stated(change, units - sumOf(returned).units)
    const moved = this.#absorb(change, units - sumOf([...returned, ...stated]).units)
    const known = sumOf([...returned, ...stated, ...moved])
    const bought = this.#newLots(change, units - known.units, known.cost - left.cost)
    const arrived = [...returned, ...stated, ...moved, ...bought].map((lot) => ({
      ...lot,
      ...this.#place(change),
    }))
    this.#keep(change, putIn(this.#pool(change), arrived, this.#methodOf(account)))
  }

  /** What was given and what was received for a deposit are exchanged: only what is open keeps a value. */
  closeExchange(): void {
    const { depositId, changes } = this.#journal
    if (!changes.some(({ account }) => isTrading(account))) return
    const keys = new Set([...this.#changed.keys(), ...this.#pools.ofDeposit(depositId)])
    const open = [...keys]
      .map((key) => ({ key, lots: this.#poolAt(key).lots }))
      .filter(({ lots: [lot] }) => lot !== undefined && isTrading(lot.account) && lot.depositId === depositId)
    const sides = new Set(open.flatMap(({ lots }) => lots.map(({ units }) => units > 0n)))
    if (sides.size < 2) return
    for (const { key, lots } of open)
      this.#changed.set(key, poolOf(lots.map((lot) => ({ ...lot, cost: 0n }))))
  }

  result(): CarriedJournal {
    const { reverses } = this.#journal
    const lines = [...this.#atMarket, ...this.#equityLines(), ...this.#carriedLines()]
    const sum = lines.reduce((total, { value }) => total + value, 0n)
    const { digits, scale } = plus({ digits: sum, scale: 0 }, this.#residue)
    const gain =
      reverses === null
        ? -roundHalfEven(digits, 10n ** BigInt(scale))
        : valueIn(reverses, { account: roundingAccount, asset: null }) - sum
    const rest = [
      { account: gainAccounts.realised, asset: null, units: 0n, value: gain },
      { account: roundingAccount, asset: null, units: 0n, value: -sum - gain },
    ]
    return {
      lines: [...lines, ...rest.filter(({ value }) => value !== 0n)],
      disposals: reverses === null ? this.#disposals() : reverses.disposals.map(takenBack),
      pools: this.#changed,
    }
  }

  /** By the journal that is taken back. */
  #givenAway({ account, asset }: UnitChange, units: bigint): Lot[] {
    const lots = (this.#journal.reverses?.disposals ?? [])
      .filter((one) => one.account === account && one.asset === asset && one.units > 0n === units > 0n)
      .map(({ proceeds: _proceeds, ...lot }) => ({ ...lot, depositId: null }))
    return cut(lots, units).first
  }

  #stated(change: UnitChange, units: bigint): Lot[] {
    const { id, lots } = this.#journal
    const own = lots.filter(({ account, asset }) => account === change.account && asset === change.asset)
    const found = cut(
      own.map((lot) => ({ ...lot, depositId: null, origin: id })),
      units > 0n ? units : 0n,
    ).first
    const sum = sumOf(found)
    const beyond = sum.cost - this.#enter(change, sum.units, 0n)
    this.#beyondMarket.set(change.asset, (this.#beyondMarket.get(change.asset) ?? 0n) + beyond)
    return found
  }

  /** Without units. */
  #equityLines(): ValuedLine[] {
    const { changes, reverses } = this.#journal
    const isOther = ({ account, asset, units }: ValuedLine) =>
      account === accounts.opening &&
      units === 0n &&
      !changes.some((change) => change.account === account && change.asset === asset)
    const values =
      reverses === null
        ? [...this.#beyondMarket].map(([asset, value]) => ({ asset, value }))
        : reverses.lines.filter(isOther)
    return values
      .filter(({ value }) => value !== 0n)
      .map(({ asset, value }) => ({ account: accounts.opening, asset, units: 0n, value: -value }))
  }

  /**
   * First own units, which keep when they were acquired. Own units that arrive elsewhere are given away. In a reversal,
   * the units of others return at the value that is taken back.
   */
  #absorb(change: UnitChange, units: bigint): Lot[] {
    const others = this.#journal.reverses === null ? [false] : []
    const owners = isOwn(change.account, this.#basis) ? [true, ...others] : others
    return owners.reduce<Lot[]>((moved, own) => {
      const side = sideOf(change, units, own)
      const { first, rest } = cut(this.#released.get(side) ?? [], units - sumOf(moved).units)
      this.#released.set(side, rest)
      return [...moved, ...(own ? first : first.map((lot) => ({ ...lot, ...this.#acquired() })))]
    }, [])
  }

  /** @param carried what the line of the account has of the value already */
  #newLots(change: UnitChange, units: bigint, carried: bigint): Omit<Lot, 'depositId'>[] {
    if (units === 0n) return []
    const { account, asset } = change
    const cost = this.#enter(change, units, carried)
    const limited = cost < 0n === units < 0n ? cost : 0n
    return [{ account, asset, ...this.#acquired(), units, cost: limited }]
  }

  #acquired(): Pick<Lot, 'origin' | 'acquiredAt'> {
    const { id, eventAt, reverses } = this.#journal
    return { origin: reverses?.id ?? id, acquiredAt: eventAt }
  }

  #enter(change: UnitChange, units: bigint, carried: bigint): bigint {
    const { reverses } = this.#journal
    if (reverses !== null) return -valueIn(reverses, change) - carried
    const { digits, scale } = change.price
    const value = roundHalfEven(units * digits, 10n ** BigInt(scale))
    const exact = { digits: units * digits, scale }
    this.#residue = plus(this.#residue, plus(exact, { digits: -value, scale: 0 }))
    return value
  }

  #disposals(): Disposal[] {
    return this.#journal.changes.flatMap((change) => {
      const { account, price } = change
      if (!isOwn(account, this.#basis)) return []
      const lots = [1n, -1n]
        .flatMap((sign) => this.#released.get(sideOf(change, sign, true)) ?? [])
        .filter((lot) => lot.account === account)
      return withProceeds(lots, roundHalfEven(sumOf(lots).units * price.digits, 10n ** BigInt(price.scale)))
    })
  }

  #carriedLines(): ValuedLine[] {
    const values = new Map<string, ValuedLine>()
    for (const { account, asset, units } of this.#journal.changes)
      if (isCarried(account)) values.set(`${account} ${asset}`, { account, asset, units, value: 0n })
    for (const [key, pool] of this.#changed)
      for (const { account, asset, cost: value } of costChanges(this.#pools.get(key), pool)) {
        const line = values.get(`${account} ${asset}`) ?? { account, asset, units: 0n }
        values.set(`${account} ${asset}`, { ...line, value })
      }
    return [...values.values()].filter(({ units, value }) => units !== 0n || value !== 0n)
  }

  /** Of all accounts in the pool, because averaging also changes the others. */
  #costIn({ lines }: ValuedJournal, change: UnitChange): bigint {
    const key = poolKey(this.#place(change), this.#basis)
    return lines.reduce((sum, { account, asset, value }) => {
      const isInPool = asset === change.asset && poolKey(this.#place({ account, asset }), this.#basis) === key
      return isInPool ? sum + value : sum
    }, 0n)
  }

  #pool(change: UnitChange): Pool {
    return this.#poolAt(poolKey(this.#place(change), this.#basis))
  }

  #poolAt(key: string): Pool {
    return this.#changed.get(key) ?? this.#pools.get(key)
  }

  #keep(change: UnitChange, pool: Pool): void {
    this.#changed.set(poolKey(this.#place(change), this.#basis), pool)
  }

  #held(change: UnitChange): bigint {
    return this.#pool(change).sums.get(change.account)?.units ?? 0n
  }

  #place({ account, asset }: Omit<LotPlace, 'depositId'>): LotPlace {
    return { account, asset, depositId: isTrading(account) ? this.#journal.depositId : null }
  }

  #methodOf(account: string): CostBasis['method'] {
    return isOwn(account, this.#basis) ? this.#basis.method : 'average'
  }
}

function isCarried(account: string): boolean {
  return /^(assets|liabilities|trading):/.test(account)
}

function sideOf({ account, asset }: UnitChange, units: bigint, own: boolean): string {
  return `${account.slice(0, account.indexOf(':'))} ${asset} ${units > 0n} ${own}`
}

function valueIn({ lines }: ValuedJournal, of: Pick<ValuedLine, 'account' | 'asset'>): bigint {
  const found = lines.filter(({ account, asset }) => account === of.account && asset === of.asset)
  return found.reduce((sum, { value }) => sum + value, 0n)
}

function takenBack({ units, cost, proceeds, ...part }: Disposal): Disposal {
  return { ...part, units: -units, cost: -cost, proceeds: -proceeds }
}
