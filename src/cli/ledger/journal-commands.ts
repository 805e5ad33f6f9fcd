import type { Command } from 'commander'
import type { LedgerJournalKind } from '../../store/ledger/list-journals.ts'
import type { Context } from '../context.ts'
import { listed } from '../lists.ts'
import { choice } from '../options.ts'

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
    .action(async (file, options) => (await import('./journal.ts')).addJournalCommand(context, file, options))
  twoPeople(journal.command('reverse <id>'))
    .description('take back a journal that was booked by hand')
    .requiredOption('--reason <text>', 'why; it is kept for good')
    .option('--dry-run', 'show what would be booked, and in the books of which month; book nothing')
    .action(async (id, options) => (await import('./journal.ts')).reverseJournalCommand(context, id, options))
  listed(journal.command('list'), 50)
    .description('journals, the newest first')
    .option('--period <month>', 'only in the books of this month, like 2026-01')
    .addOption(choice('--kind <kind>', 'only this kind', journalKinds))
    .option('--by <name>', 'only what this person booked by hand')
    .action(async (options) => (await import('./list-journals.ts')).listJournalsCommand(context, options))
  journal
    .command('show <id>')
    .description('one journal with its lines, and who booked it')
    .option('--json', 'print a JSON document')
    .action(async (id, options) => (await import('./journal.ts')).showJournalCommand(context, id, options))
}

function twoPeople(command: Command): Command {
  return command
    .option('--by <name>', 'who does it; without it, the user of this system')
    .requiredOption('--approved-by <name>', 'the second person, who agrees')
    .option('--json', 'print a JSON document')
}
