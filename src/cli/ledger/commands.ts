import type { Command } from 'commander'
import { formatNames } from '../../ledger/export/formats.ts'
import type { LedgerJournalKind } from '../../store/ledger/journals.ts'
import type { Context } from '../context.ts'
import { limited, listed } from '../lists.ts'
import { choice } from '../options.ts'
import type { News } from '../print.ts'

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

/** Reports of the books: balances, and the statement of an owner. */
export function describeLedgerReports(ledger: Command, context: Context, report: (news: News) => void): void {
  asOf(listed(ledger.command('balances'), 100_000, 'accounts'))
    .description('balance of every account, and the sum of each asset, which is zero')
    .action(async (options) => report(await (await import('./reports.ts')).balancesCommand(context, options)))
  asOf(listed(ledger.command('trial-balance'), 100_000, 'accounts'))
    .description('what was debited and credited on every account')
    .action(async (options) =>
      report(await (await import('./reports.ts')).trialBalanceCommand(context, options)),
    )
  listed(ledger.command('statement <owner>'), 1000, 'lines')
    .description('what was owed to a channel or wallet, what changed it, and what is owed; or of an account')
    .option('--from <time>', 'from this day or time on')
    .option('--to <time>', 'up to this day, which is included, or before this time')
    .action(async (owner, options) =>
      (await import('./reports.ts')).statementCommand(context, owner, options),
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

const journalKinds: readonly LedgerJournalKind[] = [
  'deposit',
  'settlement',
  'refund',
  'write_off',
  'withdrawal',
  'manual',
  'reversal',
]

/** `bin/depositd ledger journal`: journals, and manual bookings. */
export function describeJournals(ledger: Command, context: Context): void {
  const journal = ledger.command('journal').description('journals, and those that people book by hand')
  twoPeople(journal.command('add <file>'))
    .description('book the journal that a YAML or JSON file holds')
    .option('--dry-run', 'check it and show it, and book nothing')
    .action(async (file, options) =>
      (await import('./journals.ts')).addJournalCommand(context, file, options),
    )
  twoPeople(journal.command('reverse <id>'))
    .description('take back a journal that was booked by hand')
    .requiredOption('--reason <text>', 'why; it is kept for good')
    .option('--dry-run', 'show what would be booked, and in the books of which month; book nothing')
    .action(async (id, options) =>
      (await import('./journals.ts')).reverseJournalCommand(context, id, options),
    )
  listed(journal.command('list'), 50)
    .description('journals, the newest first')
    .option('--period <month>', 'only in the books of this month, like 2026-01')
    .addOption(choice('--kind <kind>', 'only this kind', journalKinds))
    .option('--by <name>', 'only what this person booked by hand')
    .action(async (options) => (await import('./journals.ts')).listJournalsCommand(context, options))
  journal
    .command('show <id>')
    .description('one journal with its lines, and who booked it')
    .option('--json', 'print a JSON document')
    .action(async (id, options) => (await import('./journals.ts')).showJournalCommand(context, id, options))
}

function twoPeople(command: Command): Command {
  return command
    .option('--by <name>', 'who does it; without it, the user of this system')
    .requiredOption('--approved-by <name>', 'the second person, who agrees')
    .option('--json', 'print a JSON document')
}

/** Exports the books to other programs. */
export function describeLedgerExport(ledger: Command, context: Context): void {
  ledger
    .command('export')
    .description('write journals into a file for other programs, with a manifest beside it')
    .addOption(choice('--format <format>', 'the form of the file', formatNames).makeOptionMandatory())
    .requiredOption('--out <folder>', 'where to; a folder of its own')
    .option('--from <time>', 'what happened on this day or later')
    .option('--to <time>', 'what happened up to this day, which is included, or before this time')
    .option('--as-of <time>', 'as --to, with what happened at that very time')
    .option('--recorded-as-of <time>', 'only what was written by then')
    .option('--period <month>', 'only what stands in the books of this month, like 2026-01')
    .option('--account <account>', 'only transfers of this account, or of all below it')
    .option('--owner <id>', 'only journals of deposits of this channel or wallet')
    .option('--resume', 'go on where it was broken off')
    .option('--json', 'print the manifest')
    .action(async (options) => (await import('./export.ts')).exportCommand(context, options))
}

/** Seals over the books, and the checks that use them. */
export function describeSeals(ledger: Command, context: Context, report: (news: News) => void): void {
  limited(ledger.command('verify'), 100, 'findings of each check')
    .description(
      'check all that must hold of the books: that they are as they were sealed, and that they add up',
    )
    .option(
      '--against <file>',
      'hold them against seals that were published, as "ledger seals export" wrote them',
    )
    .option('--json', 'print a JSON document')
    .action(async (options) =>
      report(await (await import('./seals.ts')).verifyLedgerCommand(context, options)),
    )
  ledger
    .command('seal')
    .description('seal now what was booked since the last seal')
    .option('--json', 'print a JSON document')
    .action(async (options) => (await import('./seals.ts')).sealCommand(context, options))
  ledger
    .command('prove <journal>')
    .description('write the proof that a journal, by its number or posting key, is among those of its seal')
    .requiredOption('--out <file>', 'where to')
    .option('--json', 'print a JSON document')
    .action(async (journal, options) =>
      report(await (await import('./seals.ts')).proveJournalCommand(context, journal, options)),
    )
  const seals = ledger
    .command('seals')
    .description('hashes over all that is booked, each over the one before')
  listed(seals.command('list'), 50)
    .description('the newest seals')
    .action(async (options) => (await import('./seals.ts')).listSealsCommand(context, options))
  seals
    .command('export')
    .description('write all seals, a line each: anchors to be published')
    .option('--out <file>', 'where to; without it, to standard output')
    .action(async (options) => (await import('./seals.ts')).exportSealsCommand(context, options))
}

/** `bin/depositd ledger prices`: the prices that value amounts. */
export function describePrices(ledger: Command, context: Context): void {
  const prices = ledger.command('prices').description('prices of assets, by which amounts are valued')
  prices
    .command('import <file>')
    .description('take prices from a .csv file: all of it or nothing')
    .option('--dry-run', 'check everything and keep nothing')
    .option('--json', 'print a JSON document')
    .action(async (file, options) =>
      (await import('./prices.ts')).importPricesCommand(context, { file, ...options }),
    )
  listed(prices.command('list'), 50)
    .description('the newest prices')
    .action(async (options) => (await import('./prices.ts')).listPricesCommand(context, options))
}
