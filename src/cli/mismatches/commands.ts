import type { Command } from 'commander'
import { mismatchKinds, type Severity } from '../../core/mismatch.ts'
import type { Context } from '../context.ts'
import { listed } from '../lists.ts'
import { choice } from '../options.ts'
import type { News } from '../print.ts'

/** From the lowest to the highest. */
const severities: readonly Severity[] = ['info', 'warning', 'severe']

export function describeMismatches(program: Command, context: Context, report: (news: News) => void): void {
  const mismatches = program.command('mismatches').description('mismatches, and the work on them')
  listed(mismatches.command('list'), 100)
    .description('list open mismatches, the most severe and the largest losses first')
    .addOption(choice('--kind <kind>', 'only this kind', Object.keys(mismatchKinds)))
    .addOption(choice('--severity <severity>', 'only this severity', severities))
    .option('--network <name>', 'only this network, of the settings or the database')
    .option('--assigned <name>', 'only those assigned to this person; "nobody" selects unassigned ones')
    .option('--older-than <time>', 'only those open for longer, like 30m, 24h or 7d')
    .option('--overdue', 'only those past their deadline for action')
    .option('--snoozed', 'also snoozed ones')
    .option('--all', 'also snoozed, resolved and cleared ones')
    .addOption(
      choice(
        '--fail-on <severity>',
        'exit with 1 if a mismatch of this severity or higher is open and passes the filters',
        severities,
      ),
    )
    .action(async (options) =>
      report(await (await import('./mismatches.ts')).listMismatchesCommand(context, options)),
    )
  mismatches
    .command('show <id>')
    .description('show one mismatch: its cause, the next step, and its history')
    .option('--json', 'print a JSON document')
    .action(async (id, options) =>
      (await import('./mismatches.ts')).showMismatchCommand(context, id, options),
    )
  describeNotes(mismatches, context)
  describeEnds(mismatches, context)
  describeWriteOff(mismatches, context)
}

function describeNotes(mismatches: Command, context: Context): void {
  byWhom(mismatches.command('assign <words...>'))
    .usage('[options] <id...> <name>')
    .description('assign mismatches to a person; "nobody" removes the assignment')
    .action(async (words, options) => (await import('./case-work.ts')).assignCommand(context, words, options))
  byWhom(mismatches.command('comment <words...>'))
    .usage('[options] <id...> <text>')
    .description('add a comment to the history of mismatches')
    .action(async (words, options) =>
      (await import('./case-work.ts')).commentCommand(context, words, options),
    )
  byWhom(mismatches.command('snooze <id...>'))
    .description('hide mismatches from the list until a time, or until their evidence changes')
    .requiredOption('--until <time>', 'a time, or how long from now, like 24h or 3d; "now" ends the snooze')
    .action(async (ids, options) => (await import('./case-work.ts')).snoozeCommand(context, ids, options))
}

function describeEnds(mismatches: Command, context: Context): void {
  byWhom(mismatches.command('resolve <id...>'))
    .description('resolve mismatches by decision, until their evidence changes')
    .requiredOption('--reason <text>', 'the reason; it is stored permanently')
    .action(async (ids, options) => (await import('./case-work.ts')).resolveCommand(context, ids, options))
  byWhom(mismatches.command('reopen <id...>'))
    .description('reopen resolved mismatches')
    .requiredOption('--reason <text>', 'the reason; it is stored permanently')
    .action(async (ids, options) => (await import('./case-work.ts')).reopenCommand(context, ids, options))
}

function describeWriteOff(mismatches: Command, context: Context): void {
  decisionOptions(mismatches.command('write-off <id>'))
    .description('stop expecting the delivery of a payment, and resolve its mismatch')
    .addOption(
      choice(
        '--account <which>',
        'the account to book the amount to: an expense, or a receivable from the service',
        ['expenses', 'receivable'],
      ),
    )
    .option('--withdraw', 'withdraw the write-off')
    .action(async (id, options) => (await import('./case-work.ts')).writeOffCommand(context, id, options))
}

export function decisionOptions(command: Command): Command {
  return byWhom(command)
    .requiredOption('--reason <text>', 'the reason; it is stored permanently')
    .option('--approved-by <name>', 'the second person, if the settings require one')
}

function byWhom(command: Command): Command {
  return command
    .option('--by <name>', 'the person who acts; by default the user of this system')
    .option('--json', 'print a JSON document')
}
