import type { Command } from 'commander'
import { mismatchKinds, type Severity } from '../../core/mismatch.ts'
import type { Context } from '../context.ts'
import { listed } from '../lists.ts'
import { choice } from '../options.ts'
import type { News } from '../print.ts'

/** From the lowest to the highest. */
const severities: readonly Severity[] = ['info', 'warning', 'severe']

/** `bin/depositd mismatches`: the mismatches and the work on them. */
export function describeMismatches(program: Command, context: Context, report: (news: News) => void): void {
  const mismatches = program.command('mismatches').description('what is wrong, and what is done about it')
  listed(mismatches.command('list'), 100)
    .description('open mismatches, the gravest and oldest first')
    .addOption(choice('--kind <kind>', 'only this kind', Object.keys(mismatchKinds)))
    .addOption(choice('--severity <severity>', 'only this severity', severities))
    .option('--network <name>', 'only this network, of the settings or the database')
    .option('--assigned <name>', 'only those of this person, or of nobody')
    .option('--older-than <time>', 'only those that have been open for longer, like 30m, 24h or 7d')
    .option('--overdue', 'only those for which somebody should have done something by now')
    .option('--snoozed', 'also those that are snoozed')
    .option('--all', 'also those that are snoozed or ended')
    .addOption(
      choice(
        '--fail-on <severity>',
        'exit with 1 if one of this severity, or a graver one, is open and passes the filters',
        severities,
      ),
    )
    .action(async (options) =>
      report(await (await import('./mismatches.ts')).listMismatchesCommand(context, options)),
    )
  mismatches
    .command('show <id>')
    .description('all about one mismatch: what to do next, and what was done')
    .option('--json', 'print a JSON document')
    .action(async (id, options) =>
      (await import('./mismatches.ts')).showMismatchCommand(context, id, options),
    )
  describeNotes(mismatches, context)
  describeEnds(mismatches, context)
  describeWriteOff(mismatches, context)
}

/** Commands that change who handles a mismatch, and when. */
function describeNotes(mismatches: Command, context: Context): void {
  byWhom(mismatches.command('assign <words...>'))
    .usage('[options] <id...> <name>')
    .description('say who looks after mismatches; "nobody" takes them from whoever does')
    .action(async (words, options) => (await import('./case-work.ts')).assignCommand(context, words, options))
  byWhom(mismatches.command('comment <words...>'))
    .usage('[options] <id...> <text>')
    .description('write a comment into the history of mismatches')
    .action(async (words, options) =>
      (await import('./case-work.ts')).commentCommand(context, words, options),
    )
  byWhom(mismatches.command('snooze <id...>'))
    .description('leave mismatches out of the list until then, or until their evidence changes')
    .requiredOption('--until <time>', 'a time, or how long from now, like 24h or 3d; "now" ends it')
    .action(async (ids, options) => (await import('./case-work.ts')).snoozeCommand(context, ids, options))
}

/** Commands by which a person resolves or reopens a mismatch. */
function describeEnds(mismatches: Command, context: Context): void {
  byWhom(mismatches.command('resolve <id...>'))
    .description('end mismatches by decision, until their evidence changes')
    .requiredOption('--reason <text>', 'why; it is kept for good')
    .action(async (ids, options) => (await import('./case-work.ts')).resolveCommand(context, ids, options))
  byWhom(mismatches.command('reopen <id...>'))
    .description('open mismatches again that were resolved')
    .requiredOption('--reason <text>', 'why; it is kept for good')
    .action(async (ids, options) => (await import('./case-work.ts')).reopenCommand(context, ids, options))
}

function describeWriteOff(mismatches: Command, context: Context): void {
  decisionOptions(mismatches.command('write-off <id>'))
    .description('no longer expect the delivery of the payment that a mismatch is about, and resolve it')
    .addOption(
      choice(
        '--account <which>',
        'where the amount then stands: an expense, or receivable from the service',
        ['expenses', 'receivable'],
      ),
    )
    .option('--withdraw', 'take the write-off back')
    .action(async (id, options) => (await import('./case-work.ts')).writeOffCommand(context, id, options))
}

/** Options of a decision about money. */
export function decisionOptions(command: Command): Command {
  return byWhom(command)
    .requiredOption('--reason <text>', 'why; it is kept for good')
    .option('--approved-by <name>', 'the second person, where the settings ask for one')
}

function byWhom(command: Command): Command {
  return command
    .option('--by <name>', 'who does it; without it, the user of this system')
    .option('--json', 'print a JSON document')
}
