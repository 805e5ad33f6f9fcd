import type { Transaction } from 'kysely'
import { Fault } from '../../core/errors.ts'
import { type ExactNumber, minorPlaces, toDecimal } from '../../core/value.ts'
import { type CarriedJournal, carryValues, type JournalToValue, poolKey } from '../../ledger/carry-values.ts'
import { type CostBasis, type Lot, type Pool, poolOf } from '../../ledger/lots.ts'
import { type Database, inTransaction } from '../../store/database.ts'
import { cutLedger, patiently } from '../../store/ledger/maintenance.ts'
import { readValuation, type Valuation } from '../../store/ledger/prices.ts'
import {
  type PricedLine,
  type PriceGap,
  priceGaps,
  readLots,
  readUnvalued,
  readValued,
  readValuedJournals,
  saveLots,
  saveValued,
  type UnitChangeRow,
  type UnvaluedJournal,
  valueAlone,
} from '../../store/ledger/values.ts'
import type { Tables } from '../../store/tables.ts'

/** Journals that were valued now, and the last one; the rest waits for prices. */
export type ValuingResult = {
  rule: FunctionalCurrency
  valued: number
  lastJournal: bigint
  gaps: readonly PriceGap[]
}

export type FunctionalCurrency = NonNullable<Valuation>

const batchMax = 1000
export const gapsMax = 20

/**
 * Values all journals of the books in their order, and stops at the first that lacks a price. Safe to run twice and
 * concurrently.
 * @returns null if the settings name no currency
 * @throws Fault `usage_bad` if the books are valued in another currency; `remote_failed` if open writes do not finish
 */
export async function valueBooks(
  db: Database<Tables>,
  onProgress: (valued: number) => void = () => undefined,
): Promise<ValuingResult | null> {
  const rule = await readValuation(db)
  if (rule === null) return null
  refuseOther(rule, (await readValued(db)).currency)
  const { lastJournal: upTo } = await patiently('valuing the books', () => cutLedger(db))
  let valued = 0
  for (;;) {
    const batch = await inTransaction(db, (tx) => valueBatch(tx, rule, upTo))
    valued += batch
    if (batch === 0) break
    onProgress(valued)
  }
  const { lastJournal } = await readValued(db)
  const gaps = await priceGaps(db, { after: lastJournal, upTo, limit: gapsMax })
  return { rule, valued, lastJournal, gaps }
}

function refuseOther({ currency }: FunctionalCurrency, valuedIn: string | null): void {
  if (valuedIn === null || valuedIn === currency) return
  const problem = `the books are valued in ${valuedIn}, and the settings name ${currency}`
  throw new Fault('usage_bad', {
    problem,
    fix: `set valuation.currency to ${valuedIn}, and restart the daemon`,
  })
}

/** @returns the number of journals; 0 if none is left, or the next one lacks a price */
export async function valueBatch(
  tx: Transaction<Tables>,
  rule: FunctionalCurrency,
  upTo: bigint,
): Promise<number> {
  await valueAlone(tx)
  const { lastJournal: after } = await readValued(tx)
  const { journals, changes } = await readUnvalued(tx, { after, upTo, limit: batchMax })
  const byJournal = Map.groupBy(changes, ({ journal }) => journal)
  const gap = journals.findIndex(
    ({ id, reverses }) => reverses === null && byJournal.get(id)?.some(({ price }) => price === null),
  )
  const priced = gap === -1 ? journals : journals.slice(0, gap)
  if (priced.length === 0) return 0
  const before = await readLots(tx, lotsOf(priced, changes, rule))
  const originals = await readValuedJournals(
    tx,
    priced.flatMap(({ reverses }) => reverses ?? []),
  )
  const batch = new Batch(rule, before, originals)
  for (const journal of priced) batch.value(journal, byJournal.get(journal.id) ?? [])
  await saveValued(tx, batch.valuations, rule)
  await saveLots(tx, batch.lots(before))
  return priced.length
}

function lotsOf(journals: readonly UnvaluedJournal[], changes: readonly UnitChangeRow[], basis: CostBasis) {
  return {
    accounts: [...new Set(changes.map(({ account }) => account))],
    assets: [...new Set(changes.map(({ asset }) => asset))],
    deposits: [...new Set(journals.flatMap(({ depositId }) => depositId ?? []))],
    pooled: basis.pool === 'asset' ? basis.own : [],
  }
}

type ValuedBefore = ReadonlyMap<bigint, CarriedLines>
type CarriedLines = Pick<CarriedJournal, 'disposals'> & { lines: readonly Omit<PricedLine, 'journal'>[] }

/** Values journals one after the other. */
export class Batch {
  readonly valuations: Parameters<typeof saveValued>[1][number][] = []
  readonly #rule: FunctionalCurrency
  readonly #valued: Map<bigint, CarriedLines>
  readonly #pools: Map<string, Pool>

  constructor(rule: FunctionalCurrency, lots: readonly Lot[], originals: ValuedBefore) {
    this.#rule = rule
    this.#valued = new Map(originals)
    const pools = Map.groupBy(lots, (lot) => poolKey(lot, rule))
    this.#pools = new Map([...pools].map(([key, own]) => [key, poolOf(own)]))
  }

  value(journal: UnvaluedJournal, rows: readonly UnitChangeRow[]): void {
    const { id, eventAt, depositId, period, reverses } = journal
    const original = reverses === null ? undefined : this.#valued.get(reverses)
    const toValue: JournalToValue = {
      id,
      eventAt,
      depositId,
      changes: rows.map(({ account, asset, units, decimals, price }) => ({
        account,
        asset,
        units: BigInt(units),
        price: minorPrice(price, decimals, this.#rule.currency),
      })),
      reverses: reverses !== null && original !== undefined ? { id: reverses, ...original } : null,
    }
    const { lines, disposals, pools } = carryValues(toValue, this.#pools, this.#rule)
    for (const [key, pool] of pools) this.#pools.set(key, pool)
    const priceOf = pricesOf(original?.lines ?? rows)
    const priced = lines.map((line) => ({ ...line, ...priceOf(line.asset) }))
    this.#valued.set(id, { lines: priced, disposals })
    this.valuations.push({
      kind: 'journal',
      journal: id,
      close: null,
      eventAt,
      period,
      lines: priced,
      disposals,
    })
  }

  /** What is held now. */
  held(): Lot[] {
    return [...this.#pools.values()].flatMap(({ lots }) => lots)
  }

  /** What has changed. */
  lots(before: readonly Lot[]): { gone: Lot[]; kept: Lot[] } {
    const old = new Map(before.map((lot) => [keyOf(lot), lot]))
    const now = new Map(this.held().map((lot) => [keyOf(lot), lot]))
    return {
      gone: before.filter((lot) => !now.has(keyOf(lot))),
      kept: [...now].flatMap(([key, lot]) => {
        const was = old.get(key)
        return was?.units === lot.units && was.cost === lot.cost ? [] : [lot]
      }),
    }
  }
}

function keyOf({ account, asset, depositId, origin }: Lot): string {
  return `${account} ${asset} ${depositId} ${origin}`
}

type PricedPart = { asset: string | null; price: string | null; priceAt: Date | null; source: string | null }

const unpriced = { price: null, priceAt: null, source: null }

function pricesOf(parts: readonly PricedPart[]): (asset: string | null) => Omit<PricedPart, 'asset'> {
  const prices = new Map(
    parts.map(({ asset, price, priceAt, source }) => [asset, { price, priceAt, source }]),
  )
  return (asset) => (asset === null ? unpriced : (prices.get(asset) ?? unpriced))
}

/** Of one base unit, in the smallest coins of the currency. A reversal needs none. */
export function minorPrice(price: string | null, decimals: number, currency: string): ExactNumber {
  const { digits, scale } = toDecimal(price ?? '0')
  const places = scale + decimals - minorPlaces(currency)
  return places < 0 ? { digits: digits * 10n ** BigInt(-places), scale: 0 } : { digits, scale: places }
}

/** One line for each, and the fix. */
export function missingPrices(gaps: readonly PriceGap[], currency: string): string {
  const lines = gaps.map(({ journal, asset, assetSymbol, at }) => {
    const of = journal === null ? '' : `, for journal ${journal}`
    return `no price in ${currency} of ${assetSymbol} (${asset}) at ${at.toISOString()}${of}\n`
  })
  const [{ asset, at } = { asset: '', at: new Date(0) }] = gaps
  const example = `${asset},${currency},${at.toISOString()},PRICE,SOURCE`
  return `${lines.join('')}import them, no older than valuation.maxAge, with "bin/depositd ledger prices import FILE"; the file has the line asset,currency,at,price,source and lines like ${example}\n`
}

/** Of what needs the prices. */
export function refusalOf(gaps: readonly PriceGap[], currency: string): Fault<'usage_bad'> {
  const [fix = '', ...problems] = missingPrices(gaps, currency).trimEnd().split('\n').toReversed()
  return new Fault('usage_bad', { problem: problems.toReversed().join('; '), fix })
}
