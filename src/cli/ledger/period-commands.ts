import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { listed } from '../lists.ts'

/** Commands that close and reopen months of the books. */
export function describePeriods(ledger: Command, context: Context): void {
  byTwo(ledger.command('close <month>'))
    .description(
      'close a month that is over, like 2026-01: nothing more is booked into it, and its trial balance is frozen',
    )
    .option('--soft', 'to all but adjustments; nothing is frozen')
    .option('--force', 'also with severe mismatches open; takes --reason and --approved-by')
    .option('--reason <text>', 'why; it is kept for good')
    .action(async (month, options) => (await import('./periods.ts')).closeCommand(context, month, options))
  byTwo(ledger.command('reopen <month>'))
    .description('open the last month again that was closed')
    .requiredOption('--reason <text>', 'why; it is kept for good')
    .action(async (month, options) => (await import('./periods.ts')).reopenCommand(context, month, options))
  listed(ledger.command('periods'), 50)
    .description('the months of the books, the newest first: what is closed, by whom, with which SHA-256')
    .option('--history', 'instead, who closed or reopened which month, and why')
    .action(async (options) => (await import('./periods.ts')).periodsCommand(context, options))
}

function byTwo(command: Command): Command {
  return command
    .option('--by <name>', 'who does it; without it, the user of this system')
    .option('--approved-by <name>', 'the second person')
    .option('--json', 'print a JSON document')
}
