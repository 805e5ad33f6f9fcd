import type { Command } from 'commander'
import { formatNames } from '../../ledger/export/formats.ts'
import type { Context } from '../context.ts'
import { choice } from '../options.ts'

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
