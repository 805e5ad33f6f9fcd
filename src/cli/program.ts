import { Command } from 'commander'
import { unreadableKinds } from '../core/mismatch.ts'
import { describeOwners } from './channels/commands.ts'
import { describeCompletion } from './completion.ts'
import type { Context } from './context.ts'
import { describeDeposits } from './deposits/commands.ts'
import { describeDoctor } from './doctor/commands.ts'
import { describeLedger } from './ledger/commands.ts'
import { limited, listed } from './lists.ts'
import { describeMismatches } from './mismatches/commands.ts'
import { choice, ranged } from './options.ts'
import type { News } from './print.ts'
import { version } from './process.ts'
import { wantsJson } from './report-error.ts'
import { describeService } from './service/commands.ts'
import { describeWebhooks } from './webhooks/commands.ts'

const trafficSeconds = { min: 1, max: 3600 }
const heights = { min: 0, max: 999_999_999_999_999 }

/** Implementations are imported when a command runs, so that the first line appears at once. */
export function describeProgram(context: Context, report: (news: News) => void): Command {
  const program = new Command('depositd')
    .description('Reconciles crypto deposits from webhooks, an API and chains, and books them in a ledger.')
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
  describeDeposits(program, context, report)
  describeMismatches(program, context, report)
  describeLedger(program, context, report)
  describeDoctor(program, context, report)
  describePolicy(program, context, report)
  describeReapplication(program, context, report)
  describeCompletion(program, context)
  return program
}

function describeDaemon(program: Command, context: Context): void {
  program
    .command('start')
    .description('start the daemon; without SERVICE_URL, start everything that it needs on this machine too')
    .option('--roles <list>', 'comma-separated: http, worker, scheduler', 'http,worker,scheduler')
    .addOption(
      ranged(
        '--traffic <seconds>',
        'without SERVICE_URL: seconds between test payments, ten times as many after the first 40',
        trafficSeconds,
      ).default(3),
    )
    .action(async (options) => (await import('./start.ts')).start(context, options))
  program
    .command('migrate')
    .description('bring the database to the newest schema')
    .option('--json', 'print a JSON document')
    .action(async (options) => (await import('./start.ts')).runMigrations(context, options))
  program
    .command('compose-setup', { hidden: true })
    .description('create the passwords and the Alertmanager configuration for docker-compose.yml')
    .option('--folder <path>', 'the folder that has a folder of secrets for each container', '/secrets')
    .option(
      '--alertmanager <file>',
      'the configuration with every receiver',
      '/etc/alertmanager/alertmanager.yml',
    )
    .action(async (options) => (await import('./compose-setup.ts')).composeSetup(context, options))
}

function describePolicy(program: Command, context: Context, report: (news: News) => void): void {
  listed(program.command('scorecard'), 100)
    .description(
      "report the service's webhooks (missing, late, repeated), settlement times and fees, by route",
    )
    .option('--since <time>', 'how long ago, like 24h or 30d, or a time', '30d')
    .action(async (options) => (await import('./scorecard.ts')).scorecardCommand(context, options))
  limited(program.command('reconcile'), 50, 'changes')
    .description('show what another policy would change in stored deposits; exit with 1 if anything')
    .requiredOption('--policy <file>', 'a YAML file with the section "policy"')
    .option('--dry-run', 'decide, and write nothing')
    .option('--json', 'print a JSON document')
    .action(async (options) => report(await (await import('./policy.ts')).reconcileCommand(context, options)))
  const policy = program.command('policy').description('the policy: what is expected of deposits')
  listed(policy.command('learn'), 50, 'routes')
    .description('propose a policy from the fees of settled deposits, by route')
    .action(async (options) => (await import('./policy.ts')).learnPolicyCommand(context, options))
}

function describeReapplication(program: Command, context: Context, report: (news: News) => void): void {
  program
    .command('replay')
    .description('read stored payloads that could not be applied again, after the profile was fixed')
    .addOption(choice('--kind <kind>', 'only payloads with this kind of mismatch', unreadableKinds))
    .option('--passed-over', 'also payloads that the profile ignores')
    .option('--since <time>', 'only payloads received at this time or later')
    .option('--json', 'print a JSON document')
    .action(async (options) => report(await (await import('./replay.ts')).replayCommand(context, options)))
  limited(program.command('rebuild'), 100, 'differing deposits')
    .description('recompute deposits, mismatches and journals from all evidence, and compare')
    .option('--verify', 'compare with the stored ones, and write nothing')
    .option('--json', 'print a JSON document')
    .action(async (options) => report(await (await import('./replay.ts')).rebuildCommand(context, options)))
  program
    .command('backfill')
    .description('rescan blocks, or resume a network whose history was lost')
    .requiredOption('--network <name>', 'the network')
    .addOption(ranged('--from <height>', 'the first block or slot', heights).makeOptionMandatory())
    .addOption(
      ranged(
        '--to <height>',
        'the last block or slot; by default the last one read, or the head of a stopped network',
        heights,
      ),
    )
    .option('--json', 'print a JSON document')
    .action(async (options) =>
      report(await (await import('./backfill.ts')).backfillCommand(context, options)),
    )
}
