import type { Command } from 'commander'
import type { Context } from '../context.ts'
import type { News } from '../print.ts'
import { describeQuarantine } from './quarantine-commands.ts'

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
