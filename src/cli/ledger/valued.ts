import { formatMinor, notValued, toDecimal, toMinor } from '../../core/value.ts'
import { gapsMax, missingPrices, type ValuingResult, valueBooks } from '../../jobs/books/value-books.ts'
import { csvLine } from '../../ledger/export/csv.ts'
import type { Database } from '../../store/database.ts'
import { readValuation } from '../../store/ledger/prices.ts'
import {
  countUnvalued,
  type DisposalKey,
  type DisposalLine,
  type DisposalSpan,
  type DisposalTotal,
  listDisposals,
  totalDisposals,
  type ValuedBalance,
  valuedBalances,
} from '../../store/ledger/show-values.ts'
import { type PriceGap, priceGaps } from '../../store/ledger/values.ts'
import type { Tables } from '../../store/tables.ts'
import { type Context, longQueryMs, withDatabase } from '../context.ts'
import { goOnLine, type ListKeyset, type ListOptions, pageOf, readPage } from '../lists.ts'
import { type News, print, reportProgress, type TableColumn, table } from '../print.ts'
import { momentText, monthOption, type SpanOptions, spanOf } from './moments.ts'

/** Bad news if a price is missing. */
export async function valueCommand(context: Context): Promise<News> {
  const report = reportProgress(context)
  const result = await withDatabase(
    context,
    async (db) => {
      const done = await valueBooks(db, (valued) => report(`${valued} journals valued`))
      if (done === null) throw notValued('ledger value')
      const span = { after: done.lastJournal, upTo: done.upTo, limit: gapsMax }
      return { ...done, gaps: await priceGaps(db, span) }
    },
    longQueryMs,
  )
  const { rule, valued, lastJournal, gaps } = result
  print(context, { currency: rule.currency, valued, lastJournal, gaps }, textOf(result))
  return gaps.length === 0 ? 'good' : 'bad'
}

type ValuedBooks = ValuingResult & { gaps: readonly PriceGap[] }

function textOf({ rule: { currency }, valued, lastJournal, gaps }: ValuedBooks): string {
  const done = `${valued} journals valued in ${currency}; `
  if (gaps.length === 0) return `${done}all journals are valued\n`
  const last = lastJournal === 0n ? 'none is valued yet' : `the last valued one is ${lastJournal}`
  return `${done}${last}\n${missingPrices(gaps, currency)}`
}

export type ValuedBalanceOptions = ListOptions & { period?: string }

/** Bad news unless the values sum to zero. */
export async function valuedTrialBalance(context: Context, options: ValuedBalanceOptions): Promise<News> {
  const period = options.period === undefined ? null : monthOption(options.period)
  const { currency, lines, unvalued } = await withDatabase(
    context,
    async (db) => ({
      currency: await currencyOf(db),
      lines: await valuedBalances(db, period),
      unvalued: await countUnvalued(db, period),
    }),
    longQueryMs,
  )
  const sum = lines.reduce((total, { value }) => total + toMinor(toDecimal(value), currency), 0n)
  const total = formatMinor(sum, currency)
  const page = pageOf(lines, options, balancePaging)
  const waiting =
    unvalued === 0n ? '' : `${unvalued} journals are not valued yet: run "bin/depositd ledger value"\n`
  const verdict =
    sum === 0n ? 'balanced: the values sum to zero\n' : `NOT BALANCED: the values sum to ${total}\n`
  const text = `${table(page.items, balanceColumns(currency))}${goOnLine(context, page)}${verdict}${waiting}`
  print(
    context,
    { ...page, period, currency, value: total, unvalued, balanced: sum === 0n },
    lines.length === 0 ? `nothing is valued yet\n${waiting}` : text,
  )
  return sum === 0n ? 'good' : 'bad'
}

async function currencyOf(db: Database<Tables>): Promise<string> {
  const valuation = await readValuation(db)
  if (valuation === null) throw notValued('--valued')
  return valuation.currency
}

const balancePaging: ListKeyset<ValuedBalance> = {
  list: 'valued trial balance',
  keyOf: ({ account, asset }) => [account, asset ?? ''],
}

function balanceColumns(currency: string): TableColumn<ValuedBalance>[] {
  return [
    { title: 'ACCOUNT', value: ({ account }) => account },
    { title: 'CODE', value: ({ code }) => code ?? '' },
    { title: currency, value: ({ value }) => value, align: 'right' },
    { title: 'BALANCE', value: ({ balance }) => balance ?? '', align: 'right' },
    { title: 'SYMBOL', value: ({ asset_symbol: symbol }) => symbol ?? '' },
    { title: 'ASSET', value: ({ asset }) => asset ?? '' },
  ]
}

type DisposalsOptions = ListOptions & Pick<SpanOptions, 'from' | 'to'> & { csv?: boolean }

const disposalPaging: ListKeyset<DisposalLine> = {
  list: 'disposals',
  keyOf: ({ disposed_at: at, journal_id: id, part }) => [at.toISOString(), id.toString(), part.toString()],
}

export async function disposalsCommand(context: Context, options: DisposalsOptions): Promise<void> {
  const { from, until } = spanOf(options)
  const span: DisposalSpan = {
    from: from === null ? null : momentText(from),
    until: until === null ? null : momentText(until),
  }
  await withDatabase(context, async (db) => {
    if (options.csv === true) await printCsv(context, db, span)
    else await printDisposals(context, db, { ...options, ...span })
  })
}

async function printDisposals(
  context: Context,
  db: Database<Tables>,
  options: ListOptions & DisposalSpan,
): Promise<void> {
  const page = await readPage(options, disposalPaging, ({ limit, after }) =>
    listDisposals(db, options, { limit, after: disposalKey(after) }),
  )
  const totals = await totalDisposals(db, options)
  const lines = `${table(page.items, disposalColumns)}${goOnLine(context, page)}`
  const text =
    page.items.length === 0 ? 'no own funds were given away\n' : `${lines}\n${table(totals, totalColumns)}`
  print(context, { ...page, totals }, text)
}

function disposalKey(key: readonly string[] | null): DisposalKey | null {
  if (key === null) return null
  const [at = '', id = '0', part = '0'] = key
  return { disposed_at: new Date(at), journal_id: BigInt(id), part: Number(part) }
}

const rowsOfPage = 10_000

/** All of the span. */
async function printCsv({ stdout }: Context, db: Database<Tables>, span: DisposalSpan): Promise<void> {
  stdout.write(csvLine(disposalColumns.map(({ title }) => title.toLowerCase().replaceAll(' ', '_'))))
  for (let after: DisposalKey | null = null; ; ) {
    const rows: DisposalLine[] = await listDisposals(db, span, { limit: rowsOfPage, after })
    for (const row of rows) stdout.write(csvLine(disposalColumns.map(({ value }) => value(row))))
    after = rows.at(-1) ?? null
    if (rows.length < rowsOfPage) return
  }
}

const amountColumns: TableColumn<DisposalTotal>[] = [
  { title: 'AMOUNT', value: ({ amount }) => amount, align: 'right' },
  { title: 'SYMBOL', value: ({ asset_symbol: symbol }) => symbol },
  { title: 'PROCEEDS', value: ({ proceeds }) => proceeds, align: 'right' },
  { title: 'COST', value: ({ cost }) => cost, align: 'right' },
  { title: 'GAIN', value: ({ gain }) => gain, align: 'right' },
  { title: 'CURRENCY', value: ({ currency }) => currency },
]

const totalColumns: TableColumn<DisposalTotal>[] = [
  { title: 'TOTAL OF', value: ({ asset }) => asset },
  ...amountColumns,
]

const disposalColumns: TableColumn<DisposalLine>[] = [
  { title: 'ACQUIRED AT', value: ({ acquired_at: at }) => at?.toISOString() ?? '' },
  { title: 'DISPOSED AT', value: ({ disposed_at: at }) => at.toISOString() },
  ...amountColumns,
  { title: 'JOURNAL', value: ({ journal_id: id }) => `${id}`, align: 'right' },
  { title: 'ACCOUNT', value: ({ account }) => account },
  { title: 'ASSET', value: ({ asset }) => asset },
]
