import type { Command } from 'commander'
import { mismatchKinds } from '../../core/mismatch.ts'
import { severities } from '../../core/mismatches/kind-entry.ts'
import { listed } from '../lists.ts'
import { type Act, choice, ofService, reasoned, spanOption, subcommand } from '../options.ts'
import { signedCommand } from '../people/commands.ts'

export function describeMismatches(program: Command, act: Act): void {
  const mismatches = program.command('mismatches').description('mismatches, and the work on them')
  const failOn = 'exit with 1 if a mismatch of this severity or higher is open and passes the filters'
  ofService(listed(mismatches.command('list'), 100))
    .description('list open mismatches, the most severe and the largest losses first')
    .addOption(choice('--kind <kind>', 'only this kind', Object.keys(mismatchKinds)))
    .addOption(choice('--severity <severity>', 'only this severity', severities))
    .option('--network <name>', 'only this network, of the settings or the database')
    .option('--assigned <name>', 'only those assigned to this person; "nobody" selects unassigned ones')
    .addOption(spanOption('--older-than <time>', 'only those open for longer, like 30m, 24h or 7d'))
    .option('--overdue', 'only those past their deadline for action')
    .option('--snoozed', 'also snoozed ones')
    .option('--all', 'also snoozed, resolved and cleared ones')
    .addOption(choice('--fail-on <severity>', failOn, severities))
    .action(act(async () => (await import('./mismatches.ts')).listMismatchesCommand))
  subcommand(mismatches, 'show <id>', 'show one mismatch: its cause, the next step, and its history').action(
    act(async () => (await import('./mismatches.ts')).showMismatchCommand),
  )
  describeCaseWork(mismatches, act)
  const account =
    'where the amount goes: an expense, a receivable from the service, or less owed to the owner'
  const writeOff = 'stop expecting a delivery, or the rest of a short one, and resolve its mismatch'
  reasoned(signedCommand(mismatches, 'write-off <id>', writeOff))
    .addOption(
      choice('--account <which>', account, ['expenses', 'receivable', 'owner']).conflicts('withdraw'),
    )
    .option('--withdraw', 'withdraw the write-off')
    .action(act(async () => (await import('./case-work.ts')).writeOffCommand))
  const dispute = 'write the files of short deliveries for the service: CSV, printable HTML and evidence'
  const several = 'the deposit service; needed if there are several'
  ofService(subcommand(mismatches, 'dispute', dispute), several)
    .requiredOption('--out <folder>', 'the folder to write into')
    .option('--from <time>', 'only payments from this day or time on')
    .option('--to <time>', 'only payments up to the end of this day, or before this time')
    .option('--all', 'also those that a person resolved')
    .action(act(async () => (await import('./dispute.ts')).disputeCommand))
}

function describeCaseWork(mismatches: Command, act: Act): void {
  const assign = 'assign mismatches to a person; "nobody" removes the assignment'
  subcommand(mismatches, 'assign <words...>', assign)
    .usage('[options] <id...> <name>')
    .action(act(async () => (await import('./case-work.ts')).assignCommand))
  subcommand(mismatches, 'comment <words...>', 'add a comment to the history of mismatches')
    .usage('[options] <id...> <text>')
    .action(act(async () => (await import('./case-work.ts')).commentCommand))
  const snooze = 'hide mismatches from the list until a time, or until their evidence changes'
  const until =
    'a time, or how long from now, like 24h or 3d; "loss-grows" or "changed": no time; "now" ends the snooze'
  subcommand(mismatches, 'snooze <id...>', snooze)
    .requiredOption('--until <when>', until)
    .action(act(async () => (await import('./case-work.ts')).snoozeCommand))
  const resolve = 'resolve mismatches until their evidence changes; what may be a loss by a signed decision'
  reasoned(signedCommand(mismatches, 'resolve <id...>', resolve))
    .setOptionValue('action', 'resolved')
    .action(act(async () => (await import('./case-work.ts')).endCommand))
  reasoned(subcommand(mismatches, 'reopen <id...>', 'reopen resolved mismatches'))
    .setOptionValue('action', 'reopened')
    .action(act(async () => (await import('./case-work.ts')).endCommand))
  const attach = 'attach a file of at most 5 MB to a mismatch'
  subcommand(mismatches, 'attach <id> <file>', attach).action(
    act(async () => (await import('./case-work.ts')).attachCommand),
  )
  const undo = 'undo the work on mismatches that you did last, within 15 minutes'
  subcommand(mismatches, 'undo', undo).action(act(async () => (await import('./case-work.ts')).undoCommand))
}
