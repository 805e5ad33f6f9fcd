import { Command, CommanderError, Option } from 'commander'
import { codeOf, type FaultCode, fixOf, lineOf, problemOf } from '../core/errors.ts'
import { unreadableKinds } from '../core/mismatch.ts'
import { describeApiTokens } from './api/commands.ts'
import { describeOwners } from './channels/commands.ts'
import { describeCompletion } from './completion.ts'
import type { ProgramContext } from './context.ts'
import { describeDeposits } from './deposits/commands.ts'
import { describeEvents } from './events/commands.ts'
import { describeLedger } from './ledger/commands.ts'
import { limited, listed } from './lists.ts'
import { describeMismatches } from './mismatches/commands.ts'
import { describeOnboard } from './onboard/commands.ts'
import { type Act, choice, ofService, ranged, subcommand, timeOption } from './options.ts'
import { describePeople, signedCommand } from './people/commands.ts'
import { type News, printJson } from './print.ts'
import { isReaderGone, version } from './process.ts'
import { describeService } from './service/commands.ts'
import { describeProfile, describeWebhooks } from './webhooks/commands.ts'

/** @returns the exit status */
export async function run(context: ProgramContext): Promise<number> {
  let status: number = exitStatus.fine
  try {
    const words = context.arguments.length === 0 ? ['--help'] : context.arguments
    const program = describeProgram(context, (news) => {
      if (news === 'bad') status = exitStatus.badNews
    })
    await program.parseAsync(words, { from: 'user' })
    return status
  } catch (error) {
    return reportError(context, error)
  }
}

const trafficSeconds = { min: 1, max: 3600 }
const heights = { min: 0, max: 999_999_999_999_999 }

/** Implementations are imported when a command runs, so that the first line appears at once. */
export function describeProgram(context: ProgramContext, report: (news: News | void) => void): Command {
  const program = new Command('depositd')
    .description('Reconciles crypto deposits from webhooks, an API and chains, and books them in a ledger.')
    .version(version)
    .option('--debug', 'show stack traces of errors')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void (wantsJson(context) || context.stderr.write(text)),
    })
  const act: Act =
    (load) =>
    async (...words) => {
      const { json = false } = words.at(-2) as { json?: boolean }
      const command = await load()
      report(await command({ ...context, json }, ...(words.slice(0, -1) as never[])))
    }
  describeDaemon(program, act)
  describeOnboard(program, act)
  describeService(program, act)
  describeWebhooks(program, act)
  describeProfile(program, act)
  describeOwners(program, act)
  describeDeposits(program, act)
  describeMismatches(program, act)
  describeEvents(program, act)
  describeLedger(program, act)
  describePeople(program, act)
  describeApiTokens(program, act)
  describeNotifications(program, act)
  describeWitness(program, act)
  describePolicy(program, act)
  describeReapplication(program, act)
  describeCompletion(program, context)
  return program
}

function describeDaemon(program: Command, act: Act): void {
  const traffic = 'without SERVICE_URL: seconds between test payments, ten times as many after the first 40'
  program
    .command('start')
    .description('start the daemon; without SERVICE_URL, start everything that it needs on this machine too')
    .option('--roles <list>', 'comma-separated: http, worker, scheduler', 'http,worker,scheduler')
    .addOption(ranged('--traffic <seconds>', traffic, trafficSeconds).default(3))
    .action(act(async () => (await import('./start.ts')).start))
  subcommand(program, 'migrate', 'bring the database to the newest schema').action(
    act(async () => (await import('./start.ts')).runMigrations),
  )
  const alertmanager = '/etc/alertmanager/alertmanager.yml'
  program
    .command('compose-setup', { hidden: true })
    .description('create the passwords and the Alertmanager configuration for docker-compose.yml')
    .option('--folder <path>', 'the folder that has a folder of secrets for each container', '/secrets')
    .option('--alertmanager <file>', 'the configuration with every receiver', alertmanager)
    .action(act(async () => (await import('./compose-setup.ts')).composeSetup))
  subcommand(program, 'doctor', 'check every setting and connection, and print how to fix each problem')
    .option('--balances', 'also prove the balance of every deposit address')
    .option('--cost', 'only print how many requests a day the nodes receive with these settings')
    .action(act(async () => (await import('./doctor/doctor.ts')).doctorCommand))
}

function describePolicy(program: Command, act: Act): void {
  ofService(listed(program.command('scorecard'), 100))
    .description(
      "report each service's webhooks (missing, late, repeated), settlement times and fees, by route",
    )
    .option(
      '--since <time>',
      'how long ago, like 24h or 30d, or a time; the hour in which that is counts as a whole',
      '30d',
    )
    .action(act(async () => (await import('./scorecard.ts')).scorecardCommand))
  const reconcile = 'show what another policy would change in stored deposits; exit with 1 if anything'
  limited(subcommand(program, 'reconcile', reconcile), 50, 'changes')
    .requiredOption('--policy <file>', 'a YAML file with the section "policy"')
    .requiredOption('--dry-run', 'decide, and write nothing: only the settings activate a policy')
    .action(act(async () => (await import('./policy.ts')).reconcileCommand))
  const policy = program.command('policy').description('the policy: what is expected of deposits')
  listed(policy.command('learn'), 50, 'routes')
    .description('propose a policy from the fees of settled deposits, by route')
    .action(act(async () => (await import('./policy.ts')).learnPolicyCommand))
  signedCommand(policy, 'approve', 'sign the policy of the settings, so that it becomes active').action(
    act(async () => (await import('./policy.ts')).approvePolicyCommand),
  )
}

function describeNotifications(program: Command, act: Act): void {
  const notifications = program
    .command('notifications')
    .description('messages about causes, by e-mail and to webhooks')
  subcommand(
    notifications,
    'test [channel]',
    'send a test message to each channel, or to the one named',
  ).action(act(async () => (await import('./notifications.ts')).testNotificationsCommand))
}

function describeWitness(program: Command, act: Act): void {
  const witness = 'confirm checkpoints of logs on another machine, if each log only grew; runs until stopped'
  subcommand(program, 'witness', witness)
    .requiredOption('--log <key>', 'public keys of the logs, separated by commas')
    .requiredOption('--key-file <file>', 'the key of the witness')
    .requiredOption('--folder <folder>', 'the folder for the newest confirmed checkpoints')
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .addOption(ranged('--port <port>', 'the port', { min: 0, max: 65_535 }).default(8090))
    .action(act(async () => (await import('./witness.ts')).witnessCommand))
}

function describeReapplication(program: Command, act: Act): void {
  const replay = 'read stored payloads that could not be applied again, after the profile was fixed'
  const kind = choice('--kind <kind>', 'only payloads with this kind of mismatch', unreadableKinds)
  subcommand(program, 'replay', replay)
    .addOption(kind.conflicts('passedOver'))
    .option('--passed-over', 'also payloads that the profile ignores; they have no kind')
    .addOption(timeOption('--since <time>', 'only payloads received at this time or later'))
    .action(act(async () => (await import('./replay.ts')).replayCommand))
  const rebuild = 'recompute deposits, mismatches and journals from all evidence, and compare'
  const restore = new Option('--restore', 'write what is lost or wrong anew, by reversals and new journals')
  limited(signedCommand(program, 'rebuild', rebuild), 100, 'differing deposits')
    .option('--verify', 'compare with the stored ones, and write nothing')
    .addOption(restore.conflicts('verify'))
    .option('--reason <text>', 'the reason of a restore; it is stored permanently')
    .action(act(async () => (await import('./replay.ts')).rebuildCommand))
  const to = 'the last block or slot; by default the last one read, or the head of a stopped network'
  subcommand(program, 'backfill', 'rescan blocks, or resume a network whose history was lost')
    .requiredOption('--network <name>', 'the network')
    .addOption(ranged('--from <height>', 'the first block or slot', heights).makeOptionMandatory())
    .addOption(ranged('--to <height>', to, heights))
    .action(act(async () => (await import('./backfill.ts')).backfillCommand))
}

/** docs/commands.md lists these. */
const exitStatus = { fine: 0, badNews: 1, wrongUse: 2, notFound: 3, unavailable: 4 } as const

const statusOfFault: Readonly<Record<FaultCode, number>> = {
  amount_malformed: exitStatus.wrongUse,
  address_malformed: exitStatus.wrongUse,
  transaction_malformed: exitStatus.wrongUse,
  settings_bad: exitStatus.wrongUse,
  usage_bad: exitStatus.wrongUse,
  not_found: exitStatus.notFound,
  remote_failed: exitStatus.unavailable,
  schema_unknown: exitStatus.unavailable,
  rpc_disagreement: exitStatus.unavailable,
  lease_lost: exitStatus.unavailable,
  conflict: exitStatus.unavailable,
  history_lost: exitStatus.badNews,
  request_refused: exitStatus.badNews,
}

function wantsJson({ arguments: words }: Pick<ProgramContext, 'arguments'>): boolean {
  return words.includes('--json')
}

/**
 * One line on standard error or, with `--json`, the only document on standard output.
 * @returns the exit status
 */
function reportError(context: ProgramContext, error: unknown): number {
  if (isReaderGone(error)) return exitStatus.fine
  if (error instanceof CommanderError && error.exitCode === 0) return exitStatus.fine
  const isDebugged = context.arguments.includes('--debug') && error instanceof Error
  if (isDebugged) context.stderr.write(`depositd: ${error.stack}\n`)
  if (wantsJson(context)) printJson(context, { error: documentOf(error) })
  // Commander has already written its own line.
  else if (!isDebugged && !(error instanceof CommanderError))
    context.stderr.write(`depositd: ${lineOf(error)}\n`)
  return statusOf(error)
}

function statusOf(error: unknown): number {
  if (error instanceof CommanderError) return exitStatus.wrongUse
  const code = codeOf(error)
  return code === null ? exitStatus.badNews : statusOfFault[code]
}

/** `fix` is null if only the message is known. */
function documentOf(error: unknown): { code: string; message: string; fix: string | null } {
  if (error instanceof CommanderError) {
    const message = error.message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ')
    return { code: 'usage_bad', message, fix: 'see the options of the command with --help' }
  }
  return { code: codeOf(error) ?? 'internal_error', message: problemOf(error), fix: fixOf(error) }
}
