import { assert } from '../../core/errors.ts'
import { formatAmount } from '../../core/money.ts'
import { formatMinor, magnitudeOf, minorPlaces, roundHalfEven } from '../../core/value.ts'
import { releasedOf, sumOf } from '../lots.ts'
import type { ExportedJournal, ExportedLot, ExportedValue } from './exported-journal.ts'
import { beancountAccount } from './plain-text.ts'

/** A lot in Beancount, where all of its units keep the cost at which it was put in. */
type HeldLot = { day: string; units: bigint; cost: bigint; putIn: { units: bigint; cost: bigint } }

/** `cost` is what Beancount adds, in parts of the smallest coin. */
type LotMove = ExportedLot & { taken: bigint; added: bigint; after: HeldLot; moved: bigint }

/** Of the smallest coin of the currency. Beancount has 28 digits. */
const partDigits = 12
const parts = 10n ** BigInt(partDigits)

/** What Beancount holds at cost, as it follows from the postings so far. */
export class BeancountLots {
  readonly #currency: string
  /** By account and asset, then by the journal that acquired them and the day. */
  readonly #held = new Map<string, Map<string, HeldLot>>()
  readonly #accounts = new Set<string>()
  /** True if debits were ever there, false if credits were. */
  readonly #sides = new Map<string, Set<boolean>>()
  /** Lots of which nothing was left: what is added again may have another cost per unit. */
  readonly #emptied = new Set<string>()

  constructor(currency: string) {
    this.#currency = currency
  }

  /** True if it ever had any. */
  isHolder(account: string): boolean {
    return this.#accounts.has(account)
  }

  isReducedBy(lots: readonly ExportedLot[]): boolean {
    return lots.some((lot) => {
      const held = this.#held.get(placeOf(lot))?.get(lotOf(lot))
      return held !== undefined && releasedOf(held.units, lot.units) !== 0n
    })
  }

  /** Beancount takes some out, or would by an order of its own, or would mix two costs of one lot. */
  isOpposedBy(lots: readonly ExportedLot[]): boolean {
    return lots.some((lot) => {
      const place = placeOf(lot)
      return this.#sides.get(place)?.has(lot.units < 0n) || this.#emptied.has(`${place} ${lotOf(lot)}`)
    })
  }

  /**
   * Of the accounts that the lots are in.
   * @param isFifo Beancount has had the same lots before, so that `{}` takes the oldest
   */
  postings({ values, lots }: Pick<ExportedJournal, 'values' | 'lots'>, isFifo: boolean): string[] {
    return [...Map.groupBy(lots ?? [], placeOf)].flatMap(([place, changes]) => {
      const line = values.find(({ account, asset }) => asset && placeOf({ account, asset }) === place)
      return this.#postingsAt(place, changes, { line, isFifo })
    })
  }

  #postingsAt(
    place: string,
    changes: readonly ExportedLot[],
    { line, isFifo }: { line: ExportedValue | undefined; isFifo: boolean },
  ): string[] {
    const { units = 0n, value = 0n, price = null } = line ?? {}
    const sum = sumOf(changes)
    assert(sum.units === units && sum.cost === value, 'lots follow from the values')
    const held = this.#held.get(place) ?? new Map<string, HeldLot>()
    const moves = changes.map((change) => moveOf(held.get(lotOf(change)), change))
    this.#keep(place, held, moves)
    const taken = moves.filter((move) => move.taken !== 0n)
    const rest = value * parts - moves.reduce((total, { moved }) => total + moved, 0n)
    return [
      ...this.#reductions(taken, { isOldest: isFifo && isOldestOf(taken, held), price }),
      ...moves.filter(({ added }) => added !== 0n).map((move) => this.#addition(move)),
      ...changes.slice(0, rest === 0n ? 0 : 1).map((change) => this.#posting(change, this.#money(rest))),
    ]
  }

  #keep(place: string, held: Map<string, HeldLot>, moves: readonly LotMove[]): void {
    const sides = this.#sides.get(place) ?? new Set<boolean>()
    this.#held.set(place, held)
    this.#sides.set(place, sides)
    for (const move of moves) {
      const { account, after } = move
      this.#accounts.add(account)
      if (after.units === 0n) {
        held.delete(lotOf(move))
        this.#emptied.add(`${place} ${lotOf(move)}`)
      } else {
        held.set(lotOf(move), after)
        sides.add(after.units > 0n)
      }
    }
  }

  #reductions(
    taken: readonly LotMove[],
    { isOldest, price }: { isOldest: boolean; price: string | null },
  ): string[] {
    const at = price === null ? '' : ` @ ${price} ${this.#currency}`
    const named = taken.map((move) => this.#units(move, -move.taken, `{${move.day}, "${move.origin}"}${at}`))
    const sum = taken.reduce((total, move) => total + move.taken, 0n)
    return isOldest ? taken.slice(0, 1).map((move) => this.#units(move, -sum, `{}${at}`)) : named
  }

  #addition(move: LotMove): string {
    const cost = this.#money(magnitudeOf(partsOf(move.added, move.after.putIn)))
    return this.#units(move, move.added, `{{${cost}, ${move.day}, "${move.origin}"}}`)
  }

  #units(lot: ExportedLot, units: bigint, cost: string): string {
    const { decimals, commodity } = lot.asset
    return this.#posting(lot, `${formatAmount(units, decimals)} ${commodity} ${cost}`)
  }

  #posting({ account }: ExportedLot, amount: string): string {
    return `  ${beancountAccount(account)}  ${amount}`
  }

  /** With digits beyond the smallest coin only if it has any. */
  #money(amount: bigint): string {
    const [currency, isWhole] = [this.#currency, amount % parts === 0n]
    const text = isWhole
      ? formatMinor(amount / parts, currency)
      : formatAmount(amount, minorPlaces(currency) + partDigits)
    return `${text} ${currency}`
  }
}

function placeOf({ account, asset }: Pick<ExportedLot, 'account' | 'asset'>): string {
  return `${account} ${asset.key}`
}

function lotOf({ origin, day }: ExportedLot): string {
  return `${origin} ${day}`
}

/** Units that come to a lot have its cost in Beancount; if none of it is left, they are a new lot. */
function moveOf(held: HeldLot | undefined, change: ExportedLot): LotMove {
  const { day, units } = change
  const before = held ?? { day, units: 0n, cost: 0n, putIn: change }
  const taken = releasedOf(before.units, units)
  const added = units + taken
  const sum = sumOf([before, change])
  const putIn = taken === before.units ? sum : before.putIn
  const moved = partsOf(added, putIn) - partsOf(taken, before.putIn)
  return { ...change, taken, added, moved, after: { day, ...sum, putIn } }
}

function partsOf(units: bigint, { units: all, cost }: HeldLot['putIn']): bigint {
  return units === 0n ? 0n : roundHalfEven(units * cost * parts, all)
}

/** By days, which are all that Beancount knows: true if it can take no others. */
function isOldestOf(taken: readonly LotMove[], left: ReadonlyMap<string, HeldLot>): boolean {
  const newest = taken.map(({ day }) => day).reduce((one, other) => (one > other ? one : other), '')
  const [kept, ...others] = [...left].filter(([, { day }]) => day <= newest)
  if (kept === undefined) return true
  const last = taken.filter(({ day }) => day === newest)
  return others.length === 0 && last.length === 1 && last.map(lotOf)[0] === kept[0]
}
