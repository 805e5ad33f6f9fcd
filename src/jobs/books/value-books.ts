import { setImmediate } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import { Fault } from '../../core/errors.ts'
import { type ExactNumber, minorPlaces, toDecimal } from '../../core/value.ts'
import { type CarriedJournal, carryValues } from '../../ledger/carry-values.ts'
import type { CostBasis, Lot } from '../../ledger/lots.ts'
import { Pools } from '../../ledger/pools.ts'
import type { JournalToValue } from '../../ledger/valued-journal.ts'
import { type Database, inTransaction } from '../../store/database.ts'
import { cutLedger, patiently } from '../../store/ledger/maintenance.ts'
import { readValuation, type Valuation } from '../../store/ledger/prices.ts'
import {
  type PricedLine,
  type PriceGap,
  readLots,
  readUnvalued,
  readValued,
  readValuedJournals,
  saveLots,
  saveValued,
  type UnitChangeRow,
  type UnvaluedJournal,
  type ValuationToSave,
  valueAlone,
} from '../../store/ledger/values.ts'
import type { Tables } from '../../store/tables.ts'

/** Journals that were valued now, and the last one; the rest, up to another, waits for prices. */
export type ValuingResult = { rule: FunctionalCurrency; valued: number; lastJournal: bigint; upTo: bigint }

export type FunctionalCurrency = NonNullable<Valuation>

const batchMax = 1000
/** Of computing in one transaction. Postgres ends it after 30 s without a statement. */
const computingMaxMs = 3000
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
  return { rule, valued, lastJournal, upTo }
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
  const pools = new Pools(before, rule)
  const valued = new Map<bigint, CarriedLines>(originals)
  const valuations: ValuationToSave[] = []
  const count = await eachInTime(priced, (journal) => {
    const rows = byJournal.get(journal.id) ?? []
    const valuation = valueJournal({ rule, pools }, { journal, rows }, valued)
    valued.set(journal.id, valuation)
    valuations.push(valuation)
  })
  await saveValued(tx, valuations, rule)
  await saveLots(tx, changesOf(before, pools.lots()))
  return count
}

/** Lets other work run after each. @returns how many were done in time; at least the first */
export async function eachInTime<Item>(
  items: readonly Item[],
  work: (item: Item) => void,
  withinMs = computingMaxMs,
): Promise<number> {
  const until = performance.now() + withinMs
  for (const [index, item] of items.entries()) {
    if (index > 0 && performance.now() >= until) return index
    work(item)
    await setImmediate()
  }
  return items.length
}

function lotsOf(journals: readonly UnvaluedJournal[], changes: readonly UnitChangeRow[], basis: CostBasis) {
  return {
    accounts: [...new Set(changes.map(({ account }) => account))],
    assets: [...new Set(changes.map(({ asset }) => asset))],
    deposits: [...new Set(journals.flatMap(({ depositId }) => depositId ?? []))],
    pooled: basis.pool === 'asset' ? basis.own : [],
  }
}

type CarriedLines = Pick<CarriedJournal, 'disposals'> & { lines: readonly Omit<PricedLine, 'journal'>[] }

/** The pools change with the journal. */
export function valueJournal(
  { rule, pools: before }: { rule: CostBasis & { currency: string }; pools: Pools },
  { journal, rows }: { journal: UnvaluedJournal; rows: readonly UnitChangeRow[] },
  originals: ReadonlyMap<bigint, CarriedLines>,
): ValuationToSave {
  const { id, eventAt, depositId, period, reverses, lots } = journal
  const original = reverses === null ? undefined : originals.get(reverses)
  const toValue: JournalToValue = {
    id,
    eventAt,
    depositId,
    lots,
    changes: rows.map(({ account, asset, units, decimals, price }) => ({
      account,
      asset,
      units: BigInt(units),
      price: minorPrice(price, decimals, rule.currency),
    })),
    reverses: reverses !== null && original !== undefined ? { id: reverses, ...original } : null,
  }
  const { lines, disposals, pools } = carryValues(toValue, before, rule)
  for (const [key, pool] of pools) before.set(key, pool)
  const priceOf = pricesOf(original?.lines ?? rows)
  const priced = lines.map((line) => ({ ...line, ...priceOf(line.asset) }))
  return { kind: 'journal', journal: id, close: null, eventAt, period, lines: priced, disposals }
}

function changesOf(before: readonly Lot[], after: readonly Lot[]): { gone: Lot[]; kept: Lot[] } {
  const old = new Map(before.map((lot) => [keyOf(lot), lot]))
  const now = new Map(after.map((lot) => [keyOf(lot), lot]))
  return {
    gone: before.filter((lot) => !now.has(keyOf(lot))),
    kept: [...now].flatMap(([key, lot]) => {
      const was = old.get(key)
      return was?.units === lot.units && was.cost === lot.cost ? [] : [lot]
    }),
  }
}

function keyOf({ account, asset, depositId, origin, acquiredAt }: Lot): string {
  return `${account} ${asset} ${depositId} ${origin} ${acquiredAt?.getTime()}`
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
