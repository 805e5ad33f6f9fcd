import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { listed } from '../lists.ts'
import type { News } from '../print.ts'

export function describeWebhooks(program: Command, context: Context, report: (news: News) => void): void {
  const webhooks = program
    .command('webhooks')
    .description('signing scheme, mapping profile and quarantine of webhooks')
  webhooks
    .command('detect')
    .description('find the signing scheme of captured deliveries, and print the section of the settings file')
    .option('--secret-file <path>', 'file with the secret as the sender shows it; by default WEBHOOK_SECRETS')
    .option('--public-keys <path>', 'PEM file or JWKS with the public keys of the sender')
    .option('--from <place>', 'quarantine, or a file of captures', 'quarantine')
    .option('--json', 'print a JSON document')
    .action(async (options) => report(await (await import('./detect.ts')).detectCommand(context, options)))
  webhooks
    .command('profile')
    .description(
      'infer a mapping profile from webhooks and records, and print it; uncertain fields are marked',
    )
    .option('--from <place>', 'inbox, quarantine, or a file of captures', 'inbox')
    .option('--records <path>', 'file with records or responses of the API, as JSON or JSON lines')
    .option('--json', 'print a JSON document')
    .action(async (options) => report(await (await import('./profile.ts')).profileCommand(context, options)))
  describeQuarantine(webhooks, context, report)
}

export function describeQuarantine(webhooks: Command, context: Context, report: (news: News) => void): void {
  const quarantine = webhooks.command('quarantine').description('deliveries that failed verification')
  listed(quarantine.command('list'), 50)
    .description('list deliveries, the newest first')
    .action(async (options) => (await import('./quarantine.ts')).listQuarantineCommand(context, options))
  quarantine
    .command('show <id>')
    .description('show one delivery with its headers and body')
    .option('--json', 'print a JSON document')
    .action(async (id, options) =>
      (await import('./quarantine.ts')).showQuarantineCommand(context, id, options),
    )
  quarantine
    .command('retry [ids...]')
    .description('verify again with the current settings, and accept genuine deliveries; by default all')
    .option('--json', 'print a JSON document')
    .action(async (ids, options) =>
      report(await (await import('./quarantine.ts')).retryQuarantineCommand(context, ids, options)),
    )
  quarantine
    .command('drop [ids...]')
    .description('delete deliveries')
    .option('--all', 'delete every delivery')
    .option('--json', 'print a JSON document')
    .action(async (ids, options) =>
      (await import('./quarantine.ts')).dropQuarantineCommand(context, ids, options),
    )
}
