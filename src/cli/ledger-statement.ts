import { Fault } from '../core/errors.ts'
import { readStatement, type StatementLine } from '../store/ledger/balances.ts'
import { type Context, withDatabase } from './context.ts'
import { momentText, type SpanOptions, spanOf } from './moments.ts'
import { limitOf } from './options.ts'
import { type Column, printJson, table } from './print.ts'

type StatementOptions = SpanOptions & { limit: string; json?: boolean }

/** The first and the last moment that a statement may have. */
const everFrom = '1970-01-01T00:00:00Z'

/** Prints what an owner's accounts held at the beginning, what changed it, and what they held at the end. */
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
    limit: limitOf(options.limit),
  }
  const { lines, entries } = await withDatabase(context, (db) => readStatement(db, wish))
  if (lines.length === 0)
    throw new Fault('usage_bad', {
      problem: `nothing was ever booked of ${JSON.stringify(owner)}`,
      mend: 'give the id of a channel or wallet, like shop or channel:shop, or an account of "depositd ledger balances"',
    })
  if (options.json === true) {
    printJson(context, { owner, from: wish.from, before: wish.before, entries, lines })
    return
  }
  const shown = lines.filter(({ line }) => line === 'entry').length
  context.stdout.write(table(lines, columns))
  if (shown < entries) context.stdout.write(`and ${entries - shown} more; --limit tells of more\n`)
}

const columns: Column<StatementLine>[] = [
  { title: 'AT', of: ({ event_at: at }) => at.toISOString() },
  { title: 'WHAT', of: ({ line, kind }) => kind ?? line },
  { title: 'JOURNAL', of: ({ journal_id: id }) => id?.toString() ?? '', align: 'right' },
  { title: 'DEPOSIT', of: ({ deposit_id: id }) => id?.toString() ?? '', align: 'right' },
  { title: 'AMOUNT', of: ({ amount }) => amount ?? '', align: 'right' },
  { title: 'BALANCE', of: ({ balance }) => balance, align: 'right' },
  { title: 'SYMBOL', of: ({ symbol }) => symbol },
  { title: 'ASSET', of: ({ asset }) => asset },
  { title: 'ACCOUNT', of: ({ account }) => account },
]
