import { type BalanceLine, listBalances, totalBalances } from '../store/reports.ts'
import { type Context, withDatabase } from './context.ts'
import { type Column, type News, printJson, table } from './print.ts'

/** Prints the balance of each account, and of each asset the sum over all accounts. Bad news unless all are 0. */
export async function balancesCommand(context: Context, { json }: { json?: boolean }): Promise<News> {
  const [balances, totals] = await withDatabase(context, (db) =>
    Promise.all([listBalances(db), totalBalances(db)]),
  )
  const isBalanced = totals.every(({ total }) => /^-?0(\.0+)?$/.test(total))
  if (json === true) printJson(context, { balances, totals, balanced: isBalanced })
  else if (balances.length === 0) context.stdout.write('nothing is booked yet\n')
  else {
    const sums = totals.map(({ asset, symbol, total }) => ({
      account: '= sum',
      asset,
      symbol,
      balance: total,
    }))
    const rows = totals.flatMap(({ asset }) => [...balances, ...sums].filter((row) => row.asset === asset))
    context.stdout.write(table(rows, columns))
    context.stdout.write(isBalanced ? 'balanced: every asset sums to zero\n' : 'NOT BALANCED\n')
  }
  return isBalanced ? 'good' : 'bad'
}

const columns: Column<BalanceLine>[] = [
  { title: 'ACCOUNT', of: ({ account }) => account },
  { title: 'BALANCE', of: ({ balance }) => balance, align: 'right' },
  { title: 'SYMBOL', of: ({ symbol }) => symbol },
  { title: 'ASSET', of: ({ asset }) => asset },
]
