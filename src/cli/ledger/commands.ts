import type { Command } from 'commander'
import { formatNames } from '../../ledger/export/formats.ts'
import type { LedgerJournalKind } from '../../store/ledger/journals.ts'
import type { Context } from '../context.ts'
import { limited, listed } from '../lists.ts'
import { choice } from '../options.ts'
import type { News } from '../print.ts'

export function describeLedger(program: Command, context: Context, report: (news: News) => void): void {
  const ledger = program.command('ledger').description('the double-entry ledger')
  describeLedgerReports(ledger, context, report)
  describePeriods(ledger, context)
  describeJournals(ledger, context)
  describeLedgerExport(ledger, context)
  describeSeals(ledger, context, report)
  describePrices(ledger, context)
}

export function describeLedgerReports(ledger: Command, context: Context, report: (news: News) => void): void {
  asOf(listed(ledger.command('balances'), 100_000, 'accounts'))
    .description('print the balance of every account, and the sum of each asset, which is zero')
    .action(async (options) => report(await (await import('./reports.ts')).balancesCommand(context, options)))
  asOf(listed(ledger.command('trial-balance'), 100_000, 'accounts'))
    .description('print the debits and credits of every account')
    .action(async (options) =>
      report(await (await import('./reports.ts')).trialBalanceCommand(context, options)),
    )
  listed(ledger.command('statement <owner>'), 1000, 'lines')
    .description(
      'print the opening balance, the changes and the closing balance of a channel, wallet or account',
    )
    .option('--from <time>', 'from this day or time')
    .option('--to <time>', 'up to the end of this day, or before this time')
    .action(async (owner, options) =>
      (await import('./reports.ts')).statementCommand(context, owner, options),
    )
}

function asOf(command: Command): Command {
  return command
    .option('--as-of <time>', 'only what happened up to the end of this day, or up to this time')
    .option('--recorded-as-of <time>', 'only what was recorded up to the end of this day, or up to this time')
    .option(
      '--period <month>',
      'only the books of this month, like 2026-01, and of earlier months, without late journals',
    )
}

export function describePeriods(ledger: Command, context: Context): void {
  byTwo(ledger.command('close <month>'))
    .description(
      'close a past month, like 2026-01: no more journals are booked into it, and its trial balance is frozen',
    )
    .option('--soft', 'still allow adjustments; freeze nothing')
    .option('--force', 'close even if severe mismatches are open; requires --reason and --approved-by')
    .option('--reason <text>', 'the reason; it is stored permanently')
    .action(async (month, options) => (await import('./periods.ts')).closeCommand(context, month, options))
  byTwo(ledger.command('reopen <month>'))
    .description('reopen the month that was closed last')
    .requiredOption('--reason <text>', 'the reason; it is stored permanently')
    .action(async (month, options) => (await import('./periods.ts')).reopenCommand(context, month, options))
  listed(ledger.command('periods'), 50)
    .description('list the months of the books, the newest first: state, who closed it, SHA-256')
    .option('--history', 'list instead who closed or reopened a month, and why')
    .action(async (options) => (await import('./periods.ts')).periodsCommand(context, options))
}

function byTwo(command: Command): Command {
  return command
    .option('--by <name>', 'the person who acts; by default the user of this system')
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

export function describeJournals(ledger: Command, context: Context): void {
  const journal = ledger.command('journal').description('journals, and manual bookings')
  twoPeople(journal.command('add <file>'))
    .description('book the journal in a YAML or JSON file')
    .option('--dry-run', 'check and print the journal, and book nothing')
    .action(async (file, options) =>
      (await import('./journals.ts')).addJournalCommand(context, file, options),
    )
  twoPeople(journal.command('reverse <id>'))
    .description('reverse a manual journal')
    .requiredOption('--reason <text>', 'the reason; it is stored permanently')
    .option('--dry-run', 'print what would be booked and into which month, and book nothing')
    .action(async (id, options) =>
      (await import('./journals.ts')).reverseJournalCommand(context, id, options),
    )
  listed(journal.command('list'), 50)
    .description('list journals, the newest first')
    .option('--period <month>', 'only journals in the books of this month, like 2026-01')
    .addOption(choice('--kind <kind>', 'only this kind', journalKinds))
    .option('--by <name>', 'only manual journals of this person')
    .action(async (options) => (await import('./journals.ts')).listJournalsCommand(context, options))
  journal
    .command('show <id>')
    .description('show one journal with its lines, and who booked it')
    .option('--json', 'print a JSON document')
    .action(async (id, options) => (await import('./journals.ts')).showJournalCommand(context, id, options))
}

function twoPeople(command: Command): Command {
  return command
    .option('--by <name>', 'the person who acts; by default the user of this system')
    .requiredOption('--approved-by <name>', 'the second person, who approves')
    .option('--json', 'print a JSON document')
}

export function describeLedgerExport(ledger: Command, context: Context): void {
  ledger
    .command('export')
    .description('write journals to a file for other programs, with a manifest')
    .addOption(choice('--format <format>', 'the format of the file', formatNames).makeOptionMandatory())
    .requiredOption('--out <folder>', 'the folder to write to; it holds one export')
    .option('--from <time>', 'only what happened on this day or later')
    .option('--to <time>', 'only what happened up to the end of this day, or before this time')
    .option('--as-of <time>', 'like --to, but includes what happened at exactly this time')
    .option('--recorded-as-of <time>', 'only what was recorded by then')
    .option('--period <month>', 'only journals in the books of this month, like 2026-01')
    .option('--account <account>', 'only ledger transfers of this account and its subaccounts')
    .option('--owner <id>', 'only journals of deposits of this channel or wallet')
    .option('--json', 'print the manifest')
    .action(async (options) => (await import('./export.ts')).exportCommand(context, options))
}

export function describeSeals(ledger: Command, context: Context, report: (news: News) => void): void {
  limited(ledger.command('verify'), 100, 'findings of each check')
    .description('verify the books: nothing sealed was changed, and everything adds up')
    .option('--against <file>', 'compare with published seals, a file of "ledger seals export"')
    .option('--json', 'print a JSON document')
    .action(async (options) =>
      report(await (await import('./seals.ts')).verifyLedgerCommand(context, options)),
    )
  ledger
    .command('seal')
    .description('seal the journals that are not sealed yet')
    .option('--json', 'print a JSON document')
    .action(async (options) => (await import('./seals.ts')).sealCommand(context, options))
  ledger
    .command('prove <journal>')
    .description('write the proof that a journal, by its number or posting key, is part of its seal')
    .requiredOption('--out <file>', 'the file to write')
    .option('--json', 'print a JSON document')
    .action(async (journal, options) =>
      report(await (await import('./seals.ts')).proveJournalCommand(context, journal, options)),
    )
  const seals = ledger
    .command('seals')
    .description('seals: hashes of all journals, each including the one before')
  listed(seals.command('list'), 50)
    .description('list seals, the newest first')
    .action(async (options) => (await import('./seals.ts')).listSealsCommand(context, options))
  seals
    .command('export')
    .description('write all seals, one per line, to be published')
    .option('--out <file>', 'the file to write; by default standard output')
    .action(async (options) => (await import('./seals.ts')).exportSealsCommand(context, options))
}

export function describePrices(ledger: Command, context: Context): void {
  const prices = ledger.command('prices').description('prices of assets, which value amounts')
  prices
    .command('import <file>')
    .description('import prices from a .csv file: all of them or none')
    .option('--dry-run', 'check everything and store nothing')
    .option('--json', 'print a JSON document')
    .action(async (file, options) =>
      (await import('./prices.ts')).importPricesCommand(context, { file, ...options }),
    )
  listed(prices.command('list'), 50)
    .description('list prices, the newest first')
    .action(async (options) => (await import('./prices.ts')).listPricesCommand(context, options))
}
