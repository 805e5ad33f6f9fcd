import { trialBalanceColumns } from '../../presentation/ledger.ts'
import { type TrialBalanceLine, trialBalance } from '../../store/ledger/balances.ts'
import { type Context, withDatabase } from '../context.ts'
import { goOnLine, type ListKeyset, type ListOptions, pageOf } from '../lists.ts'
import { type BooksOptions, booksOf } from '../moments.ts'
import { type News, printJson, table } from '../print.ts'

type TrialBalanceOptions = BooksOptions & ListOptions

const paging: ListKeyset<TrialBalanceLine> = {
  list: 'trial balance',
  keyOf: ({ asset, account }) => [asset, account],
}

/** Days without a snapshot, with millions of transfers, have to be added up. */
const queryTimeoutMs = 600_000

/** Prints the debits and credits of each account. Bad news if the two differ for an asset. */
export async function trialBalanceCommand(context: Context, options: TrialBalanceOptions): Promise<News> {
  const moments = booksOf(options)
  const { lines, totals } = await withDatabase(context, (db) => trialBalance(db, moments), queryTimeoutMs)
  const isBalanced = totals.every(({ debit, credit }) => debit === credit)
  const page = pageOf(lines, options, paging)
  if (options.json === true)
    printJson(context, {
      ...page,
      period: moments.period,
      as_of: moments.asOf,
      recorded_as_of: moments.recordedAsOf,
      totals,
      balanced: isBalanced,
    })
  else if (lines.length === 0) context.stdout.write('nothing is booked by then\n')
  else {
    const rows = totals.flatMap(({ asset }) =>
      [...page.items, ...totals].filter((row) => row.asset === asset),
    )
    context.stdout.write(`${table(rows, trialBalanceColumns)}${goOnLine(context, page)}`)
    context.stdout.write(
      isBalanced ? 'balanced: of every asset as much is debited as credited\n' : 'NOT BALANCED\n',
    )
  }
  return isBalanced ? 'good' : 'bad'
}
