import type { Command } from 'commander'
import type { Context } from './context.ts'
import type { News } from './print.ts'

/** Seals over the books, and what is checked by them. */
export function describeSeals(ledger: Command, context: Context, tell: (news: News) => void): void {
  ledger
    .command('verify')
    .description(
      'check all that must hold of the books: that they are as they were sealed, and that they add up',
    )
    .option(
      '--against <file>',
      'hold them against seals that were published, as "ledger seals export" wrote them',
    )
    .option('--limit <count>', 'of how many findings of a check to tell', '100')
    .option('--json', 'print a JSON document')
    .action(async (options) =>
      tell(await (await import('./ledger-verify.ts')).verifyLedgerCommand(context, options)),
    )
  ledger
    .command('seal')
    .description('seal now what was booked since the last seal')
    .option('--json', 'print a JSON document')
    .action(async (options) => (await import('./ledger-seals.ts')).sealCommand(context, options))
  ledger
    .command('prove <journal>')
    .description('write the proof that a journal, by its number or posting key, is among those of its seal')
    .requiredOption('--out <file>', 'where to')
    .option('--json', 'print a JSON document')
    .action(async (journal, options) =>
      tell(await (await import('./ledger-prove.ts')).proveJournalCommand(context, journal, options)),
    )
  const seals = ledger
    .command('seals')
    .description('hashes over all that is booked, each over the one before')
  seals
    .command('list')
    .description('the newest seals')
    .option('--limit <count>', 'how many', '50')
    .option('--json', 'print a JSON document')
    .action(async (options) => (await import('./ledger-seals.ts')).listSealsCommand(context, options))
  seals
    .command('export')
    .description('write all seals, a line each: anchors to be published')
    .option('--out <file>', 'where to; without it, to standard output')
    .action(async (options) => (await import('./ledger-seals.ts')).exportSealsCommand(context, options))
}
