import { trialBalance } from '../store/ledger/balances.ts'
import { trialBalanceColumns } from '../telling/told-ledger.ts'
import { type Context, withDatabase } from './context.ts'
import { type BooksOptions, booksOf } from './moments.ts'
import { limitOf } from './options.ts'
import { type News, printJson, table } from './print.ts'

type TrialBalanceOptions = BooksOptions & { limit: string; json?: boolean }

/** Days of millions of transfers that no snapshot has yet are added up. */
const queryTimeoutMs = 600_000

/** Prints what was debited and credited on each account. Bad news where the two differ for an asset. */
export async function trialBalanceCommand(context: Context, options: TrialBalanceOptions): Promise<News> {
  const limit = limitOf(options.limit)
  const moments = booksOf(options)
  const { lines, totals } = await withDatabase(context, (db) => trialBalance(db, moments), queryTimeoutMs)
  const isBalanced = totals.every(({ debit, credit }) => debit === credit)
  const shown = lines.slice(0, limit)
  const left = lines.length - shown.length
  if (options.json === true)
    printJson(context, {
      period: moments.period,
      as_of: moments.asOf,
      recorded_as_of: moments.recordedAsOf,
      lines: shown,
      left,
      totals,
      balanced: isBalanced,
    })
  else if (lines.length === 0) context.stdout.write('nothing is booked by then\n')
  else {
    const rows = totals.flatMap(({ asset }) => [...shown, ...totals].filter((row) => row.asset === asset))
    context.stdout.write(table(rows, trialBalanceColumns))
    if (left > 0) context.stdout.write(`and ${left} more, which the sums hold; --limit tells of more\n`)
    context.stdout.write(
      isBalanced ? 'balanced: of every asset as much is debited as credited\n' : 'NOT BALANCED\n',
    )
  }
  return isBalanced ? 'good' : 'bad'
}
