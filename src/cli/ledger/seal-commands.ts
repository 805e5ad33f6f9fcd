import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { limited, listed } from '../lists.ts'
import type { News } from '../print.ts'

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
      report(await (await import('./verify.ts')).verifyLedgerCommand(context, options)),
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
      report(await (await import('./prove.ts')).proveJournalCommand(context, journal, options)),
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
