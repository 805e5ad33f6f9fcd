import { gainAccounts } from '../../core/chart.ts'
import { assert } from '../../core/errors.ts'
import { formatAmount } from '../../core/money.ts'
import { formatMinor, magnitudeOf, minorPlaces, roundHalfEven } from '../../core/value.ts'
import { type CostBasis, isOwn, releasedOf, sumOf } from '../lots.ts'
import {
  dayOf,
  type ExportedJournal,
  type ExportedLot,
  type ExportedValue,
  type ExportFormat,
} from './exported-journal.ts'
import { beancount, beancountAccount, beancountDeclarations, beancountJournal } from './plain-text.ts'
import { postingsOf, unitsText } from './valued-text.ts'

/**
 * Accounts with own funds hold lots: Beancount takes out the oldest and computes the gain. All others take the costs of
 * the file, and so do own funds at average cost, which Beancount does not have.
 * @param basis if the lots are known
 */
export function valuedBeancount(currency: string, basis?: CostBasis | null): ExportFormat {
  const isFifo = basis?.method === 'fifo' && basis.own.length > 0
  const order = new DayOrder()
  const lots = new BeancountLots(currency)
  return {
    ...beancount,
    head: `${beancount.head.trimEnd()}\noption "inferred_tolerance_default" "${currency}:${halfCoin(currency)}"\n\n`,
    gaps: {
      add: (journal) => {
        if (isFifo && journal.values.some(({ account }) => isOwn(account, basis))) order.foresee(journal)
      },
      refuse: () => undefined,
    },
    journal: (journal) => [journalOf(journal, { currency, order, lots })],
    tail: (used, priced) =>
      beancountDeclarations(used, priced, (account) => (lots.isHolder(account) ? ' "FIFO"' : ' "NONE"')),
    ...(isFifo ? { lots: { ...basis, currency } } : {}),
  }
}

/** Beancount rounds the gains that it computes to twice this. */
function halfCoin(currency: string): string {
  return `0.${'0'.repeat(minorPlaces(currency))}5`
}

type ValuedState = { currency: string; order: DayOrder; lots: BeancountLots }

/** If own units leave, the gain is left to Beancount. */
function journalOf(journal: ExportedJournal, { currency, order, lots }: ValuedState): string {
  const changes = journal.lots ?? []
  if (changes.length === 0) return beancountJournal(journal, explicit(journal.values, currency))
  const isReduced = lots.isReducedBy(changes)
  const day = order.dayOf(journal, lots.isOpposedBy(changes))
  const own = lots.postings(journal, !order.isPreceded(journal, day))
  const held = new Set(changes.map(({ account }) => account))
  const others = journal.values.filter(({ account, asset }) => asset === null || !held.has(account))
  const isComputed = ({ account }: ExportedValue) => isReduced && account === gainAccounts.realised
  return beancountJournal(
    journal,
    [
      ...own,
      ...explicit(
        others.filter((value) => !isComputed(value)),
        currency,
      ),
      ...others.filter(isComputed).map(({ account }) => `  ${beancountAccount(account)}`),
    ],
    day,
  )
}

function explicit(values: readonly ExportedValue[], currency: string): string[] {
  return postingsOf(values).map(({ account, units, value }) => {
    const money = `${formatMinor(value, currency)} ${currency}`
    const amount = units === null ? money : `${unitsText(units)} ${units.asset.commodity} {{${money}}}`
    return `  ${beancountAccount(account)}  ${amount}`
  })
}

/** Beancount books by day, depositd by number. */
class DayOrder {
  /** Journals that no later one of the same or an earlier day follows, so that days rise too. */
  readonly #lasting: { id: bigint; day: string }[] = []
  #newest = ''

  /** All journals with own funds, before any is written. */
  foresee(journal: ExportedJournal): void {
    const day = dayOf(journal)
    while ((this.#lasting.at(-1)?.day ?? '') >= day) this.#lasting.pop()
    this.#lasting.push({ id: journal.id, day })
  }

  /** That of the event; of a journal that takes out lots, no day before those of earlier journals. */
  dayOf(journal: ExportedJournal, isOpposed: boolean): string {
    const [day, newest] = [dayOf(journal), this.#newest]
    if (day >= newest) this.#newest = day
    return isOpposed && day < newest ? newest : day
  }

  /** By a later journal of an earlier day. */
  isPreceded({ id }: ExportedJournal, day: string): boolean {
    const next = this.#lasting.find((one) => one.id > id)
    return next !== undefined && next.day < day
  }
}

/** A lot in Beancount, where all of its units keep the cost at which it was put in. */
type HeldLot = { day: string; units: bigint; cost: bigint; putIn: { units: bigint; cost: bigint } }

/** `cost` is what Beancount adds, in parts of the smallest coin. */
type LotMove = ExportedLot & { taken: bigint; added: bigint; after: HeldLot; moved: bigint }

/** Of the smallest coin of the currency. Beancount has 28 digits. */
const partDigits = 12
const parts = 10n ** BigInt(partDigits)

/** What Beancount holds at cost, as it follows from the postings so far. */
class BeancountLots {
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
