import type { Command } from 'commander'
import type { Context } from './context.ts'
import { describeJournals } from './describe-journals.ts'
import { describeLedgerExport } from './describe-ledger-export.ts'
import { describeLedgerReports } from './describe-ledger-reports.ts'
import { describePeriods } from './describe-periods.ts'
import { describePrices } from './describe-prices.ts'
import { describeSeals } from './describe-seals.ts'
import type { News } from './print.ts'

/** `bin/depositd ledger`: the books and their checks. */
export function describeLedger(program: Command, context: Context, tell: (news: News) => void): void {
  const ledger = program.command('ledger').description('the books')
  describeLedgerReports(ledger, context, tell)
  describePeriods(ledger, context)
  describeJournals(ledger, context)
  describeLedgerExport(ledger, context)
  describeSeals(ledger, context, tell)
  describePrices(ledger, context)
}
