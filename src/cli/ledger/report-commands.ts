import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { listed } from '../lists.ts'
import type { News } from '../print.ts'

/** Reports of the books: balances, and the statement of an owner. */
export function describeLedgerReports(ledger: Command, context: Context, report: (news: News) => void): void {
  asOf(listed(ledger.command('balances'), 100_000, 'accounts'))
    .description('balance of every account, and the sum of each asset, which is zero')
    .action(async (options) =>
      report(await (await import('./balances.ts')).balancesCommand(context, options)),
    )
  asOf(listed(ledger.command('trial-balance'), 100_000, 'accounts'))
    .description('what was debited and credited on every account')
    .action(async (options) =>
      report(await (await import('./trial-balance.ts')).trialBalanceCommand(context, options)),
    )
  listed(ledger.command('statement <owner>'), 1000, 'lines')
    .description('what was owed to a channel or wallet, what changed it, and what is owed; or of an account')
    .option('--from <time>', 'from this day or time on')
    .option('--to <time>', 'up to this day, which is included, or before this time')
    .action(async (owner, options) =>
      (await import('./statement.ts')).statementCommand(context, owner, options),
    )
}

function asOf(command: Command): Command {
  return command
    .option('--as-of <time>', 'by what happened up to the end of this day, or up to this time')
    .option('--recorded-as-of <time>', 'by what was written by then')
    .option(
      '--period <month>',
      'by the books of this month, like 2026-01, and of all before it: without what came late',
    )
}
