import type { Command } from 'commander'
import type { Context } from '../context.ts'
import type { News } from '../print.ts'
import { describeLedgerExport } from './export-commands.ts'
import { describeJournals } from './journal-commands.ts'
import { describePeriods } from './period-commands.ts'
import { describePrices } from './price-commands.ts'
import { describeLedgerReports } from './report-commands.ts'
import { describeSeals } from './seal-commands.ts'

/** `bin/depositd ledger`: the books and their checks. */
export function describeLedger(program: Command, context: Context, report: (news: News) => void): void {
  const ledger = program.command('ledger').description('the books')
  describeLedgerReports(ledger, context, report)
  describePeriods(ledger, context)
  describeJournals(ledger, context)
  describeLedgerExport(ledger, context)
  describeSeals(ledger, context, report)
  describePrices(ledger, context)
}
