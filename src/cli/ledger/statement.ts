import { Fault } from '../../core/errors.ts'
import { readStatement, type StatedLine, type StatementLine } from '../../store/ledger/balances.ts'
import { type Context, withDatabase } from '../context.ts'
import { goOnLine, type ListKeyset, type ListOptions, readPage } from '../lists.ts'
import { momentText, type SpanOptions, spanOf } from '../moments.ts'
import { printJson, type TableColumn, table } from '../print.ts'

type StatementOptions = SpanOptions & ListOptions

const paging: ListKeyset<StatedLine> = { list: 'statement', keyOf: ({ key }) => key }

/** Begin of a statement without `--from`. */
const everFrom = '1970-01-01T00:00:00Z'

/** Prints the opening balances of an owner's accounts, the changes, and the closing balances. */
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
  const stated = await withDatabase(context, (db) =>
    readPage(options, paging, (request) => readStatement(db, { ...wish, ...request })),
  )
  if (stated.items.length === 0 && options.after === undefined)
    throw new Fault('not_found', {
      problem: `nothing was ever booked of ${JSON.stringify(owner)}`,
      fix: 'give the id of a channel or wallet, like shop or channel:shop, or an account of "bin/depositd ledger balances"',
    })
  const page = { items: stated.items.map(({ key: _key, ...line }) => line), next: stated.next }
  if (options.json === true) printJson(context, { ...page, ...wish })
  else context.stdout.write(`${table(page.items, columns)}${goOnLine(context, page)}`)
}

const columns: TableColumn<StatementLine>[] = [
  { title: 'AT', of: ({ event_at: at }) => at.toISOString() },
  { title: 'WHAT', of: ({ line, kind }) => kind ?? line },
  { title: 'JOURNAL', of: ({ journal_id: id }) => id?.toString() ?? '', align: 'right' },
  { title: 'DEPOSIT', of: ({ deposit_id: id }) => id?.toString() ?? '', align: 'right' },
  { title: 'AMOUNT', of: ({ amount }) => amount ?? '', align: 'right' },
  { title: 'BALANCE', of: ({ balance }) => balance, align: 'right' },
  { title: 'SYMBOL', of: ({ asset_symbol: symbol }) => symbol },
  { title: 'ASSET', of: ({ asset }) => asset },
  { title: 'ACCOUNT', of: ({ account }) => account },
]
