import { type Command, Option } from 'commander'
import { formatNames } from '../../ledger/export/formats.ts'
import { journalKinds } from '../../presentation/journal.ts'
import { limited, listed } from '../lists.ts'
import { type Act, choice, ranged, reasoned, subcommand, timeOption } from '../options.ts'
import { signedCommand } from '../people/commands.ts'

export function describeLedger(program: Command, act: Act): void {
  const ledger = program.command('ledger').description('the double-entry ledger')
  describeReports(ledger, act)
  describePeriods(ledger, act)
  describeOpening(ledger, act)
  describeJournals(ledger, act)
  describeExport(ledger, act)
  describeSeals(ledger, act)
  describePrices(ledger, act)
  describeValues(ledger, act)
}

function describeReports(ledger: Command, act: Act): void {
  asOf(valued(ledger.command('balances'), 100_000, 'accounts'))
    .description('print the balance of every account, and the sum of each asset, which is zero')
    .action(act(async () => (await import('./reports.ts')).balancesCommand))
  asOf(valued(ledger.command('trial-balance'), 100_000, 'accounts'))
    .description('print the debits and credits of every account')
    .addOption(new Option('--valued', inCurrency).conflicts(['currency', 'asOf', 'recordedAsOf']))
    .action(act(async () => (await import('./reports.ts')).trialBalanceCommand))
  valued(ledger.command('statement <owner>'), 1000, 'lines')
    .description(
      'print the opening balance, the changes and the closing balance of a channel, wallet or account',
    )
    .option('--from <time>', 'from this day or time')
    .option('--to <time>', 'up to the end of this day, or before this time')
    .action(act(async () => (await import('./reports.ts')).statementCommand))
}

const inCurrency =
  'print what every account is carried at in the functional currency, with gains; the values sum to zero'

function valued(command: Command, limit: number, what: string): Command {
  const currency = 'also show values in the currency of the setting valuation, at the end of the report'
  return listed(command, limit, what).option('--currency', currency)
}

function asOf(command: Command): Command {
  const period = 'only the books of this month, like 2026-01, and of earlier months, without late journals'
  return command
    .option('--as-of <time>', 'only what happened up to the end of this day, or up to this time')
    .option('--recorded-as-of <time>', 'only what was recorded up to the end of this day, or up to this time')
    .addOption(new Option('--period <month>', period).conflicts('asOf'))
}

function describePeriods(ledger: Command, act: Act): void {
  const close =
    'close a past month, like 2026-01: no more journals are booked into it, and its trial balance is frozen'
  const force =
    'close even if severe mismatches are open, or decisions are not valid; requires --reason and a second person'
  signedCommand(ledger, 'close <month>', close)
    .option('--soft', 'still allow adjustments; freeze nothing')
    .addOption(new Option('--force', force).conflicts('soft'))
    .option('--reason <text>', 'the reason; it is stored permanently')
    .action(act(async () => (await import('./periods.ts')).closeCommand))
  reasoned(signedCommand(ledger, 'reopen <month>', 'reopen the month that was closed last')).action(
    act(async () => (await import('./periods.ts')).reopenCommand),
  )
  listed(ledger.command('periods'), 50)
    .description('list the months of the books, the newest first: state, who closed it, SHA-256')
    .option('--history', 'list instead who closed or reopened a month, and why')
    .action(act(async () => (await import('./periods.ts')).periodsCommand))
}

function describeOpening(ledger: Command, act: Act): void {
  const open = 'book the balances with which the books begin, proved by the chains and the service'
  const file = 'the balances: a CSV file with the columns account, asset and balance'
  const fromService =
    'take what is proved instead: StableWallets by the service, deposit addresses by the chains'
  const toSuspense = 'decide to book differences to suspense, so that each account has the proved balance'
  const undecided = 'how long to wait until the daemon has decided what was received before'
  const command = reasoned(signedCommand(ledger, 'open', open))
    .addOption(timeOption('--at <time>', 'when the books begin').makeOptionMandatory())
    .addOption(new Option('--file <file>', file).conflicts('fromService'))
    .option('--from-service', fromService)
    .option('--differences-to-suspense', toSuspense)
    .addOption(ranged('--wait <seconds>', undecided, { min: 0, max: 3600 }).default(30))
    .option('--dry-run', 'prove and print the balances, and book nothing')
  limited(command, 1000, 'balances').action(act(async () => (await import('./open.ts')).openBooksCommand))
}

function describeJournals(ledger: Command, act: Act): void {
  const journal = ledger.command('journal').description('journals, and manual bookings')
  signedCommand(
    journal,
    'add <file>',
    'request the journal in a YAML or JSON file; a second person approves it',
  )
    .option('--dry-run', 'check and print the journal, and book nothing')
    .action(act(async () => (await import('./journals.ts')).addJournalCommand))
  reasoned(
    signedCommand(
      journal,
      'reverse <id>',
      'request the reversal of a manual journal; a second person approves it',
    ),
  )
    .option('--dry-run', 'print what would be booked and into which month, and book nothing')
    .action(act(async () => (await import('./journals.ts')).reverseJournalCommand))
  listed(journal.command('list'), 50)
    .description('list journals, the newest first')
    .option('--period <month>', 'only journals in the books of this month, like 2026-01')
    .addOption(choice('--kind <kind>', 'only this kind', journalKinds))
    .option('--by <name>', 'only journals that this person booked by hand or restored')
    .action(act(async () => (await import('./journals.ts')).listJournalsCommand))
  subcommand(journal, 'show <id>', 'show one journal with its lines, and who booked it').action(
    act(async () => (await import('./journals.ts')).showJournalCommand),
  )
}

function describeExport(ledger: Command, act: Act): void {
  const asOfTime = 'like --to, but includes what happened at exactly this time'
  subcommand(ledger, 'export', 'write journals to a file for other programs, with a manifest')
    .addOption(choice('--format <format>', 'the format of the file', formatNames).makeOptionMandatory())
    .requiredOption('--out <folder>', 'the folder to write to; it holds one export')
    .option('--from <time>', 'only what happened on this day or later')
    .option('--to <time>', 'only what happened up to the end of this day, or before this time')
    .addOption(new Option('--as-of <time>', asOfTime).conflicts('to'))
    .option('--recorded-as-of <time>', 'only what was recorded by then')
    .option('--period <month>', 'only journals in the books of this month, like 2026-01')
    .option('--account <account>', 'only ledger transfers of this account and its subaccounts')
    .option('--owner <id>', 'only journals of deposits of this channel or wallet')
    .option('--valued', 'for hledger and Beancount: with what each line is carried at, and with gains')
    .option('--unverified', 'also if decisions of people are not valid')
    .action(act(async () => (await import('./export.ts')).exportCommand))
}

function describeSeals(ledger: Command, act: Act): void {
  const verify = 'verify the books: nothing sealed was changed, and everything adds up'
  limited(subcommand(ledger, 'verify', verify), 100, 'findings of each check')
    .option('--against <file>', 'compare with published checkpoints, a file of "ledger checkpoints export"')
    .option('--key <key>', 'require signatures of this key, as "ledger key show" prints it')
    .action(act(async () => (await import('./verify.ts')).verifyLedgerCommand))
  subcommand(ledger, 'seal', 'seal all new rows, and make a checkpoint').action(
    act(async () => (await import('./seals.ts')).sealCommand),
  )
  const prove =
    'write the proof that the log includes a journal, by number or posting key, or a row like inbox/12'
  subcommand(ledger, 'prove <row>', prove)
    .requiredOption('--out <file>', 'the file to write; the row is written beside it')
    .action(act(async () => (await import('./seals.ts')).proveRowCommand))
  describeCheckpoints(ledger, act)
  const key = ledger.command('key').description('the key that signs checkpoints')
  subcommand(key, 'create <name>', 'make a key for the log of this name, like example.com/depositd')
    .requiredOption('--out <file>', 'the file to write; it must not exist')
    .option('--witness', 'make a key for a witness instead')
    .action(act(async () => (await import('./verify.ts')).createKeyCommand))
  subcommand(key, 'show', 'print the public key of LEDGER_KEY').action(
    act(async () => (await import('./verify.ts')).showKeyCommand),
  )
}

function describeCheckpoints(ledger: Command, act: Act): void {
  const checkpoints = ledger
    .command('checkpoints')
    .description('checkpoints: signed roots of the tree over all sealed rows')
  listed(checkpoints.command('list'), 50)
    .description('list checkpoints, the newest first')
    .action(act(async () => (await import('./seals.ts')).listCheckpointsCommand))
  checkpoints
    .command('export')
    .description('write all checkpoints, one after the other, to be published')
    .action(act(async () => (await import('./seals.ts')).exportCheckpointsCommand))
  const grown = 'write the proof that the log only grew since the checkpoint of that size'
  subcommand(checkpoints, 'prove <size>', grown)
    .requiredOption('--out <file>', 'the file to write')
    .action(act(async () => (await import('./seals.ts')).proveGrowthCommand))
}

function describePrices(ledger: Command, act: Act): void {
  const prices = ledger.command('prices').description('prices of assets, which value amounts')
  subcommand(prices, 'import <file>', 'import prices from a .csv file: all of them or none')
    .option('--dry-run', 'check everything and store nothing')
    .action(act(async () => (await import('./prices.ts')).importPricesCommand))
  listed(prices.command('list'), 50)
    .description('list prices, the newest first')
    .action(act(async () => (await import('./prices.ts')).listPricesCommand))
}

function describeValues(ledger: Command, act: Act): void {
  subcommand(
    ledger,
    'value',
    'value all journals in the functional currency, as far as there are prices',
  ).action(act(async () => (await import('./valued.ts')).valueCommand))
  listed(ledger.command('disposals'), 1000, 'disposals')
    .description('list own funds that were given away: when, for what, and at what cost')
    .option('--from <time>', 'from this day or time')
    .option('--to <time>', 'up to the end of this day, or before this time')
    .addOption(new Option('--csv', 'print all of them as CSV').conflicts(['json', 'limit', 'after']))
    .action(act(async () => (await import('./valued.ts')).disposalsCommand))
}
