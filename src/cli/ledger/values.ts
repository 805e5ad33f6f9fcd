import { formatMinor, notValued, noValue, plus, times, toDecimal, toMinor } from '../../core/value.ts'
import type { Database } from '../../store/database.ts'
import { type AppliedPrice, pricesAt, readValuation } from '../../store/ledger/prices.ts'
import type { Tables } from '../../store/tables.ts'
import { type TableColumn, table } from '../print.ts'

type BalanceLine = { account: string; asset: string; asset_symbol: string; balance: string }

/** Null without a price, unless the balance is zero. */
type LineValue = { value: string | null } & {
  [Key in keyof Omit<AppliedPrice, 'asset'>]: AppliedPrice[Key] | null
}

/** Lines without a price are counted, and are not part of the value; it is null if no line has a price. */
type ValueTotal = { account: string; value: string | null; without_price: number }

export type ReportValues = {
  line: <Line extends BalanceLine>(line: Line) => Line & Partial<LineValue>
  columns: readonly TableColumn<Partial<LineValue>>[]
  /** Of all lines of the report; the text has only the accounts of the lines that are shown. */
  totals: (lines: readonly BalanceLine[], shown: readonly BalanceLine[]) => { document: object; text: string }
}

const unvalued: ReportValues = {
  line: (line) => line,
  columns: [],
  totals: () => ({ document: {}, text: '' }),
}

/**
 * All amounts of a report at the prices of one moment, so that its changes add up.
 * @throws Fault `usage_bad` if values are wanted and the settings name no currency
 */
export async function readValues(
  db: Database<Tables>,
  { currency: isWanted = false }: ValuedOptions,
  at: string,
): Promise<ReportValues> {
  if (!isWanted) return unvalued
  const valuation = await readValuation(db)
  if (valuation === null) throw notValued('--currency')
  const pricing: Pricing = { ...valuation, at, prices: await pricesAt(db, at) }
  return {
    line: (line) => ({ ...line, ...valueOf(line, pricing) }),
    columns: [{ title: valuation.currency, value: ({ value }) => value ?? '', align: 'right' }],
    totals: (lines, shown) => totalsOf(lines, shown, pricing),
  }
}

export type ValuedOptions = { currency?: boolean }

type Pricing = {
  currency: string
  maxAgeMs: number
  at: string
  prices: ReadonlyMap<string, AppliedPrice>
}

const zero = /^-?0(\.0+)?$/

function valueOf({ asset, balance }: BalanceLine, { currency, prices }: Pricing): LineValue {
  const priced = prices.get(asset)
  const exact = zero.test(balance) ? noValue : priced && times(toDecimal(balance), toDecimal(priced.price))
  return {
    value: exact === undefined ? null : formatMinor(toMinor(exact, currency), currency),
    price: priced?.price ?? null,
    price_at: priced?.price_at ?? null,
    price_source: priced?.price_source ?? null,
  }
}

function totalsOf(lines: readonly BalanceLine[], shown: readonly BalanceLine[], pricing: Pricing) {
  const held = lines.filter(({ balance }) => !zero.test(balance))
  const byAccount = Map.groupBy(held, ({ account }) => account)
  const accounts = [...byAccount].map(([account, own]) => totalOf(account, own, pricing))
  const total = totalOf('= sum', held, pricing)
  const missing = [...new Map(held.map((line) => [line.asset, line])).values()]
    .filter(({ asset }) => !pricing.prices.has(asset))
    .map(({ asset, asset_symbol }) => ({ asset, asset_symbol }))
  const { currency, at } = pricing
  const names = new Set(shown.map(({ account }) => account))
  const rows = [...accounts.filter(({ account }) => names.has(account)), total]
  const heading = `\nvalued total of each account, at the prices of ${at}\n`
  return {
    document: {
      currency,
      valued_at: at,
      valued_totals: accounts,
      valued_total: total,
      missing_prices: missing,
    },
    text: `${heading}${table(rows, totalColumns(currency))}${missingText(missing, pricing)}`,
  }
}

/** Rounded once, from the exact sum. */
function totalOf(account: string, lines: readonly BalanceLine[], { currency, prices }: Pricing): ValueTotal {
  const priced = lines.flatMap(({ asset, balance }) => {
    const price = prices.get(asset)?.price
    return price === undefined ? [] : [times(toDecimal(balance), toDecimal(price))]
  })
  const sum = formatMinor(toMinor(priced.reduce(plus, noValue), currency), currency)
  const unpriced = lines.length - priced.length
  return { account, value: priced.length === 0 && unpriced > 0 ? null : sum, without_price: unpriced }
}

function totalColumns(currency: string): TableColumn<ValueTotal>[] {
  return [
    { title: 'ACCOUNT', value: ({ account }) => account },
    { title: currency, value: ({ value }) => value ?? '', align: 'right' },
    { title: 'LINES WITHOUT A PRICE', value: ({ without_price: count }) => `${count}`, align: 'right' },
  ]
}

function missingText(
  missing: readonly { asset: string; asset_symbol: string }[],
  { currency, at, maxAgeMs }: Pricing,
): string {
  if (missing.length === 0) return ''
  const names = missing.map(({ asset, asset_symbol: symbol }) => `${symbol} (${asset})`).join(', ')
  const [{ asset } = { asset: '' }] = missing
  return [
    `no price in ${currency} of ${names}: their lines have no value and are not part of the totals\n`,
    `import one of at most ${maxAgeMs / 3_600_000} h before with "bin/depositd ledger prices import FILE"; `,
    `the file has the line asset,currency,at,price,source and lines like ${asset},${currency},${at},PRICE,SOURCE\n`,
  ].join('')
}
