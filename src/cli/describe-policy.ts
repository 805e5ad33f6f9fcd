import type { Command } from 'commander'
import type { Context } from './context.ts'
import { limited, listed } from './lists.ts'
import type { News } from './print.ts'

/** Commands about the policy, which says what is expected of deposits. */
export function describePolicy(program: Command, context: Context, report: (news: News) => void): void {
  limited(program.command('reconcile'), 50, 'changes')
    .description(
      'what another policy would make of all that is stored; exits with 1 where something would change',
    )
    .requiredOption('--policy <file>', 'a YAML file that holds the section "policy"')
    .option('--dry-run', 'decide, and write nothing')
    .option('--json', 'print a JSON document')
    .action(async (options) =>
      report(await (await import('./deposits/reconcile.ts')).reconcileCommand(context, options)),
    )
  const policy = program.command('policy').description('what is expected of deposits')
  listed(policy.command('learn'), 50, 'routes')
    .description('what the service kept of settled deposits, by route, as a policy to paste')
    .action(async (options) => (await import('./learn-policy.ts')).learnPolicyCommand(context, options))
}
