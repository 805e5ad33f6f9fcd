import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { listed } from '../lists.ts'
import type { News } from '../print.ts'

/** `bin/depositd webhooks quarantine …`: deliveries that failed verification. */
export function describeQuarantine(webhooks: Command, context: Context, report: (news: News) => void): void {
  const quarantine = webhooks.command('quarantine').description('deliveries that failed verification')
  listed(quarantine.command('list'), 50)
    .description('the newest deliveries')
    .action(async (options) => (await import('./quarantine.ts')).listQuarantineCommand(context, options))
  quarantine
    .command('show <id>')
    .description('one delivery, its headers and its body')
    .option('--json', 'print a JSON document')
    .action(async (id, options) =>
      (await import('./quarantine.ts')).showQuarantineCommand(context, id, options),
    )
  quarantine
    .command('retry [ids...]')
    .description('verify anew by the settings as they are, and take in what is genuine; by default all')
    .option('--json', 'print a JSON document')
    .action(async (ids, options) =>
      report(await (await import('./quarantine.ts')).retryQuarantineCommand(context, ids, options)),
    )
  quarantine
    .command('drop [ids...]')
    .description('throw deliveries away')
    .option('--all', 'every one')
    .option('--json', 'print a JSON document')
    .action(async (ids, options) =>
      (await import('./quarantine.ts')).dropQuarantineCommand(context, ids, options),
    )
}
