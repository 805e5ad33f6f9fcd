import type { Command } from 'commander'
import type { Context } from './context.ts'
import type { News } from './print.ts'

/** Commands about what is expected of deposits. */
export function describePolicy(program: Command, context: Context, tell: (news: News) => void): void {
  program
    .command('reconcile')
    .description(
      'what another policy would make of all that is stored; exits with 1 where something would change',
    )
    .requiredOption('--policy <file>', 'a YAML file that holds the section "policy"')
    .option('--dry-run', 'decide, and write nothing')
    .option('--limit <count>', 'how many changes are shown', '50')
    .option('--json', 'print a JSON document')
    .action(async (options) =>
      tell(await (await import('./reconcile.ts')).reconcileCommand(context, options)),
    )
  program
    .command('policy')
    .description('what is expected of deposits')
    .command('learn')
    .description('what the service kept of settled deposits, by route, as a policy to paste')
    .option('--limit <count>', 'how many routes', '50')
    .option('--json', 'print a JSON document')
    .action(async (options) => (await import('./learn-policy.ts')).learnPolicyCommand(context, options))
}
