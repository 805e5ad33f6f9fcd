import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { listed } from '../lists.ts'
import type { News } from '../print.ts'

/** `bin/depositd webhooks …`: find out how a service signs, and how its payloads describe deposits. */
export function describeWebhooks(program: Command, context: Context, report: (news: News) => void): void {
  const webhooks = program.command('webhooks').description('how webhooks are signed and read')
  webhooks
    .command('detect')
    .description('find the signing scheme from captured deliveries; prints the section of the settings file')
    .option(
      '--secret-file <path>',
      'file with the secret, as the sender shows it; by default what WEBHOOK_SECRETS holds',
    )
    .option('--public-keys <path>', 'PEM file or JWKS with the public keys of the sender')
    .option('--from <place>', 'quarantine, or a file of captures', 'quarantine')
    .option('--json', 'print a JSON document')
    .action(async (options) => report(await (await import('./detect.ts')).detectCommand(context, options)))
  webhooks
    .command('profile')
    .description('infer a mapping profile from webhooks and records; prints it, with what is unsure marked')
    .option('--from <place>', 'inbox, quarantine, or a file of captures', 'inbox')
    .option('--records <path>', 'file with records or answers of the API, as JSON or JSON lines')
    .option('--json', 'print a JSON document')
    .action(async (options) => report(await (await import('./profile.ts')).profileCommand(context, options)))
  describeQuarantine(webhooks, context, report)
}

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
