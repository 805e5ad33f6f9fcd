import { Command } from 'commander'
import { depositStates } from '../core/judging/reconcile.ts'
import { unreadableKinds } from '../core/mismatch.ts'
import { describeOwners } from './channels/commands.ts'
import type { Context } from './context.ts'
import { describeEvidence } from './deposits/evidence-commands.ts'
import { describePolicy } from './describe-policy.ts'
import { describeLedger } from './ledger/commands.ts'
import { limited, listed } from './lists.ts'
import { describeMatches, describeMismatches } from './mismatches/commands.ts'
import { choice, noCommand, ranged } from './options.ts'
import type { News } from './print.ts'
import { exitStatus, reportError, wantsJson } from './report-error.ts'
import { describeService } from './service/commands.ts'
import { version } from './version.ts'
import { describeWebhooks } from './webhooks/commands.ts'

const trafficSeconds = { min: 1, max: 3600 }
const heights = { min: 0, max: 999_999_999_999_999 }

/**
 * Runs one command line. Commands are loaded on demand, so that the first line appears at once.
 * @returns its exit status
 */
export async function run(context: Context): Promise<number> {
  let status: number = exitStatus.fine
  const report = (news: News): void => {
    if (news === 'bad') status = exitStatus.badNews
  }
  try {
    const words = context.arguments.length === 0 ? ['--help'] : context.arguments
    const program = describeProgram(context, report)
    await program.parseAsync(spellOut(program, words), { from: 'user' })
    return status
  } catch (error) {
    return reportError(context, error)
  }
}

/**
 * Replaces `help` by `--help`, at any position among the names of commands.
 * @throws Fault `usage_bad` for a word that is not a command
 */
function spellOut(program: Command, words: readonly string[]): readonly string[] {
  let group = program
  for (const [index, word] of words.entries()) {
    if (word.startsWith('-')) continue
    if (word === 'help') return spellOut(program, [...words.toSpliced(index, 1), '--help'])
    const command = group.commands.find((one) => one.name() === word)
    if (command === undefined) return refuseUnlessDefault(group, word, words)
    if (command.commands.length === 0) return words
    group = command
  }
  return words
}

/**
 * `service` alone starts the service: the words after it may be the value of an option, and its own action refuses
 * them.
 */
function refuseUnlessDefault(group: Command, word: string, words: readonly string[]): readonly string[] {
  if (group.name() === 'service') return words
  const names = group.createHelp().visibleCommands(group)
  throw noCommand(
    pathOf(group),
    word,
    names.map((one) => one.name()),
  )
}

function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)}${command.name()} `
}

/** Every command of the program, with its options. */
export function describeProgram(context: Context, report: (news: News) => void): Command {
  const program = new Command('depositd')
    .description('Reconciles crypto deposits three ways and books what is proved.')
    .version(version)
    .option('--debug', 'show stack traces of errors')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void (wantsJson(context) || context.stderr.write(text)),
    })
  describeDaemon(program, context)
  describeService(program, context)
  describeWebhooks(program, context, report)
  describeOwners(program, context)
  describeReports(program, context, report)
  describeMismatches(program, context, report)
  describeLedger(program, context, report)
  describeChecks(program, context, report)
  describePolicy(program, context, report)
  describeReplay(program, context, report)
  describeBackfill(program, context, report)
  return program
}

function describeDaemon(program: Command, context: Context): void {
  program
    .command('start')
    .description('start the daemon; without SERVICE_URL, everything it needs too, on this machine')
    .option('--roles <list>', 'comma-separated: http, worker, scheduler', 'http,worker,scheduler')
    .addOption(
      ranged('--traffic <seconds>', 'embedded: time between two payments', trafficSeconds).default(3),
    )
    .action(async (options) => (await import('./start.ts')).start(context, options))
  program
    .command('migrate')
    .description('bring the database to the newest schema')
    .option('--json', 'print a JSON document')
    .action(async (options) => (await import('./migrate.ts')).runMigrations(context, options))
  program
    .command('compose-setup', { hidden: true })
    .description('make the passwords and the configuration of Alertmanager for docker-compose.yml')
    .option('--folder <path>', 'a folder of secrets for each container', '/secrets')
    .option('--alertmanager <file>', 'with every receiver', '/etc/alertmanager/alertmanager.yml')
    .action(async (options) => (await import('./compose-setup.ts')).composeSetup(context, options))
}

function describeReports(program: Command, context: Context, report: (news: News) => void): void {
  const deposits = program.command('deposits').description('deposits, and what each source says of them')
  describeMatches(deposits, context)
  listed(deposits.command('list'), 50)
    .description('the newest deposits')
    .addOption(choice('--state <state>', 'only this state; without it, all but ignored', depositStates))
    .option('--network <name>', 'only this network, of the settings or the database')
    .option('--owner <id>', 'only this channel or wallet')
    .action(async (options) => (await import('./deposits/deposits.ts')).listDepositsCommand(context, options))
  deposits
    .command('show <id>')
    .description("one deposit, by our number, the service's id or a transaction")
    .option('--as-of <time>', 'what was known and said of it then')
    .option('--json', 'print a JSON document')
    .action(async (id, options) =>
      options.asOf === undefined
        ? (await import('./deposits/deposits.ts')).showDepositCommand(context, id, options)
        : (await import('./deposits/show-as-of.ts')).showAsOfCommand(context, id, options),
    )
  listed(deposits.command('proposals'), 50)
    .description('transfers that nothing names and the deposits that they fit, with the reasons')
    .action(async (options) =>
      (await import('./deposits/proposals.ts')).listProposalsCommand(context, options),
    )
  describeEvidence({ program, deposits }, context, report)
}

/** Commands whose result may be bad news. */
function describeChecks(program: Command, context: Context, report: (news: News) => void): void {
  program
    .command('doctor')
    .description('check the settings, and every server that they name')
    .option('--balances', 'prove the balance of every deposit address, too')
    .option('--cost', 'print how many requests a day the nodes get by these settings, and check nothing')
    .option('--json', 'print a JSON document')
    .action(async (options) =>
      report(await (await import('./doctor/doctor.ts')).doctorCommand(context, options)),
    )
  listed(program.command('scorecard'), 100)
    .description('how the service did: webhooks missing, late and repeated, time to settle, fees by route')
    .option('--since <time>', 'how long ago, like 24h or 30d, or a time', '30d')
    .action(async (options) => (await import('./scorecard.ts')).scorecardCommand(context, options))
}

function describeReplay(program: Command, context: Context, report: (news: News) => void): void {
  program
    .command('replay')
    .description('read again what was kept and not applied, once the profile is mended')
    .addOption(choice('--kind <kind>', 'only what is under this kind of mismatch', unreadableKinds))
    .option('--passed-over', 'also what the profile passed over')
    .option('--since <time>', 'only what was received then or later')
    .option('--json', 'print a JSON document')
    .action(async (options) => report(await (await import('./replay.ts')).replayCommand(context, options)))
  limited(program.command('rebuild'), 100, 'differing deposits')
    .description('make deposits, mismatches and books anew from all evidence, and compare')
    .option('--verify', 'beside those that stand; nothing is written')
    .option('--json', 'print a JSON document')
    .action(async (options) => report(await (await import('./rebuild.ts')).rebuildCommand(context, options)))
}

function describeBackfill(program: Command, context: Context, report: (news: News) => void): void {
  program
    .command('backfill')
    .description('read heights of a network again, or read on a network whose history was lost')
    .requiredOption('--network <name>', 'the network')
    .addOption(ranged('--from <height>', 'the first block or slot', heights).makeOptionMandatory())
    .addOption(
      ranged(
        '--to <height>',
        'the last one; without it, to the end of what was read, or on from a halt',
        heights,
      ),
    )
    .option('--json', 'print a JSON document')
    .action(async (options) =>
      report(await (await import('./backfill.ts')).backfillCommand(context, options)),
    )
}
