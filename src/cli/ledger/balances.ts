import type { Database } from '../../store/database.ts'
import { trialBalance } from '../../store/ledger/balances.ts'
import {
  type AccountBalanceLine,
  type BalanceTotal,
  listBalances,
  totalBalances,
} from '../../store/reports.ts'
import type { Tables } from '../../store/tables.ts'
import { type Context, withDatabase } from '../context.ts'
import { goOnLine, type ListKeyset, type ListOptions, pageOf } from '../lists.ts'
import { type BooksOptions, booksOf } from '../moments.ts'
import { type News, printJson, type TableColumn, table } from '../print.ts'

type BalancesOptions = BooksOptions & ListOptions
type LedgerBalances = { balances: AccountBalanceLine[]; totals: BalanceTotal[] }

/** Prints the balance of each account, and for each asset the sum over all accounts. Bad news unless all sums are 0. */
export async function balancesCommand(context: Context, options: BalancesOptions): Promise<News> {
  const { balances, totals } = await withDatabase(context, (db) => read(db, options))
  const isBalanced = totals.every(({ total }) => /^-?0(\.0+)?$/.test(total))
  const page = pageOf(balances, options, paging)
  if (options.json === true) printJson(context, { ...page, totals, balanced: isBalanced })
  else if (balances.length === 0) context.stdout.write('nothing is booked yet\n')
  else {
    const sums = totals.map(({ total, total_base: base, ...asset }) => ({
      ...asset,
      account: '= sum',
      balance: total,
      balance_base: base,
    }))
    const rows = totals.flatMap(({ asset }) => [...page.items, ...sums].filter((row) => row.asset === asset))
    context.stdout.write(`${table(rows, columns)}${goOnLine(context, page)}`)
    context.stdout.write(isBalanced ? 'balanced: every asset sums to zero\n' : 'NOT BALANCED\n')
  }
  return isBalanced ? 'good' : 'bad'
}

const paging: ListKeyset<AccountBalanceLine> = {
  list: 'balances',
  keyOf: ({ asset, account }) => [asset, account],
}

/** The current balances add up every row; those of other times use snapshots, if there are any. */
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

const columns: TableColumn<AccountBalanceLine>[] = [
  { title: 'ACCOUNT', of: ({ account }) => account },
  { title: 'BALANCE', of: ({ balance }) => balance, align: 'right' },
  { title: 'SYMBOL', of: ({ asset_symbol: symbol }) => symbol },
  { title: 'ASSET', of: ({ asset }) => asset },
]
