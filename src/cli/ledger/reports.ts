import { statementColumns, trialBalanceColumns } from '../../presentation/ledger.ts'
import type { Database } from '../../store/database.ts'
import {
  type AccountBalanceLine,
  type BalanceTotal,
  listBalances,
  readClosings,
  readStatement,
  type StatedLine,
  type TrialBalanceLine,
  totalBalances,
  trialBalance,
} from '../../store/ledger/accounts.ts'
import type { Tables } from '../../store/tables.ts'
import { type Context, withDatabase } from '../context.ts'
import { goOnLine, type ListKeyset, type ListOptions, pageOf, readPage } from '../lists.ts'
import { notFound } from '../options.ts'
import { type News, print, type TableColumn, table } from '../print.ts'
import { type BooksOptions, booksOf, momentOf, momentText, type SpanOptions, spanOf } from './moments.ts'
import { valuedTrialBalance } from './valued.ts'
import { readValues, type ValuedOptions } from './values.ts'

type BalancesOptions = BooksOptions & ListOptions & ValuedOptions
type LedgerBalances = { balances: AccountBalanceLine[]; totals: BalanceTotal[] }

/** Bad news unless the balances of each asset add up to 0. */
export async function balancesCommand(context: Context, options: BalancesOptions): Promise<News> {
  const { balances, totals, values } = await withDatabase(context, async (db) => ({
    ...(await read(db, options)),
    values: await readValues(db, options, momentOf(options)),
  }))
  const isBalanced = totals.every(({ total }) => /^-?0(\.0+)?$/.test(total))
  const page = pageOf(balances.map(values.line), options, balancePaging)
  const sums = totals.map(({ total, total_base: base, ...asset }) =>
    values.line({ ...asset, account: '= sum', balance: total, balance_base: base }),
  )
  const held = page.items.filter(({ balance_base: base }) => base !== '0')
  const shown = sums.flatMap((sum) => {
    const rows = held.filter(({ asset }) => asset === sum.asset)
    return rows.length === 0 && sum.balance_base === '0' ? [] : [...rows, sum]
  })
  const zeros = page.items.length - held.length
  const rest = zeros === 0 ? '' : `Balances of zero are left out: ${zeros}. --json lists them.\n`
  const verdict = isBalanced ? 'balanced: every asset sums to zero\n' : 'NOT BALANCED\n'
  const valued = values.totals(balances, page.items)
  const rows = table(shown, [...balanceColumns, ...values.columns])
  const text = `${rows}${rest}${goOnLine(context, page)}${verdict}${valued.text}`
  const document = { ...page, totals, balanced: isBalanced, ...valued.document }
  print(context, document, balances.length === 0 ? 'nothing is booked yet\n' : text)
  return isBalanced ? 'good' : 'bad'
}

const balancePaging: ListKeyset<AccountBalanceLine> = {
  list: 'balances',
  keyOf: ({ asset, account }) => [asset, account],
}

/** Current balances add up every row; those of other times use snapshots, if there are any. */
async function read(db: Database<Tables>, options: BalancesOptions): Promise<LedgerBalances> {
  const { period, asOf, recordedAsOf } = options
  if (period === undefined && asOf === undefined && recordedAsOf === undefined) {
    const [balances, totals] = await Promise.all([listBalances(db), totalBalances(db)])
    return { balances, totals }
  }
  const { lines, totals } = await trialBalance(db, booksOf(options))
  return {
    balances: lines.map(({ account, asset, asset_symbol, ...line }) => ({
      account,
      asset,
      asset_symbol,
      balance: line.balance,
      balance_base: line.balance_base,
    })),
    totals: totals.map(({ asset, asset_symbol, balance, balance_base }) => ({
      asset,
      asset_symbol,
      total: balance,
      total_base: balance_base,
    })),
  }
}

const balanceColumns: TableColumn<AccountBalanceLine>[] = [
  { title: 'ACCOUNT', value: ({ account }) => account },
  { title: 'BALANCE', value: ({ balance }) => balance, align: 'right' },
  { title: 'SYMBOL', value: ({ asset_symbol: symbol }) => symbol },
  { title: 'ASSET', value: ({ asset }) => asset },
]

const trialBalancePaging: ListKeyset<TrialBalanceLine> = {
  list: 'trial balance',
  keyOf: ({ asset, account }) => [asset, account],
}

/** Days without a snapshot, with millions of transfers, have to be added up. */
const queryTimeoutMs = 600_000

/** Bad news if debits and credits differ for an asset. */
export async function trialBalanceCommand(
  context: Context,
  { valued: isCarried = false, ...options }: BalancesOptions & { valued?: boolean },
): Promise<News> {
  if (isCarried) return valuedTrialBalance(context, options)
  const moments = booksOf(options)
  const { lines, totals, values } = await withDatabase(
    context,
    async (db) => ({
      ...(await trialBalance(db, moments)),
      values: await readValues(db, options, momentOf(options)),
    }),
    queryTimeoutMs,
  )
  const isBalanced = totals.every(({ debit, credit }) => debit === credit)
  const page = pageOf(lines.map(values.line), options, trialBalancePaging)
  const all = [...page.items, ...totals.map(values.line)]
  const rows = totals.flatMap((total) => all.filter(({ asset }) => asset === total.asset))
  const verdict = isBalanced ? 'balanced: debits equal credits for every asset\n' : 'NOT BALANCED\n'
  const valued = values.totals(lines, page.items)
  const shown = table(rows, [...trialBalanceColumns, ...values.columns])
  const text = `${shown}${goOnLine(context, page)}${verdict}${valued.text}`
  const document = { ...page, ...moments, totals, balanced: isBalanced, ...valued.document }
  print(context, document, lines.length === 0 ? 'nothing was booked by then\n' : text)
  return isBalanced ? 'good' : 'bad'
}

type StatementOptions = SpanOptions & ListOptions & ValuedOptions

const statementPaging: ListKeyset<StatedLine> = { list: 'statement', keyOf: ({ key }) => key }

const everFrom = '1970-01-01T00:00:00Z'

export async function statementCommand(
  context: Context,
  owner: string,
  options: StatementOptions,
): Promise<void> {
  const { from, until } = spanOf(options)
  const wish = {
    owner,
    from: from === null ? everFrom : momentText(from),
    before: until === null ? new Date().toISOString() : momentText(until + 1n),
  }
  const { stated, values, closings } = await withDatabase(context, async (db) => ({
    values: await readValues(db, options, momentOf(options)),
    stated: await readPage(options, statementPaging, (request) => readStatement(db, { ...wish, ...request })),
    closings: options.currency === true ? await readClosings(db, wish) : [],
  }))
  if (stated.items.length === 0 && options.after === undefined)
    throw notFound(
      `account or owner ${JSON.stringify(owner)}`,
      'give the id of a channel or wallet, like shop or channel:shop, or an account in "bin/depositd ledger balances"',
    )
  const page = { items: stated.items.map(({ key: _key, ...line }) => values.line(line)), next: stated.next }
  const valued = values.totals(closings, closings)
  const shown = table(page.items, [...statementColumns, ...values.columns])
  print(context, { ...page, ...wish, ...valued.document }, `${shown}${goOnLine(context, page)}${valued.text}`)
}
