import type { Command } from 'commander'
import { listed } from '../lists.ts'
import { type Act, ofService, subcommand } from '../options.ts'

const ofOne = 'the deposit service that sent them, if there are several'

export function describeWebhooks(program: Command, act: Act): void {
  const webhooks = program
    .command('webhooks')
    .description('signing scheme, mapping profile and quarantine of webhooks')
  const detect = 'find the signing scheme of captured deliveries, and print the section of the settings file'
  subcommand(webhooks, 'detect', detect)
    .option('--secret-file <path>', 'file with the secret as the sender shows it; by default WEBHOOK_SECRETS')
    .option('--public-keys <path>', 'PEM file or JWKS with the public keys of the sender')
    .option(
      '--public-url <url>',
      'address at which the sender reaches depositd, without the path; by default PUBLIC_URL, else the host of each delivery',
    )
    .option('--from <place>', 'quarantine, or a file of captures', 'quarantine')
    .option('--service <name>', ofOne)
    .action(act(async () => (await import('./detect.ts')).detectCommand))
  const profile =
    'infer a mapping profile from webhooks and records, prove it by nodes and address book, and print it; lines that are not proved are marked as unsure'
  subcommand(webhooks, 'profile', profile)
    .option('--from <place>', 'inbox, quarantine, or a file of captures', 'inbox')
    .option('--service <name>', ofOne)
    .option('--records <path>', 'file with records or responses of the API, as JSON or JSON lines')
    .option('--offline', 'ask no node: no line is proved by a chain')
    .action(act(async () => (await import('./profile.ts')).profileCommand))
  describeQuarantine(webhooks, act)
}

export function describeProfile(program: Command, act: Act): void {
  const profile = program.command('profile').description('the mapping profile: how payloads are read')
  const test = 'show what a mapping profile reads of samples, without database and network'
  subcommand(profile, 'test <file>', test)
    .option(
      '--records <path>',
      'file with records or responses of the API, as JSON or JSON lines; - for standard input',
    )
    .option(
      '--webhooks <path>',
      'file with webhook bodies or captures, as JSON or JSON lines; - for standard input',
    )
    .action(act(async () => (await import('./test-profile.ts')).testProfileCommand))
}

function describeQuarantine(webhooks: Command, act: Act): void {
  const quarantine = webhooks.command('quarantine').description('deliveries that failed verification')
  ofService(listed(quarantine.command('list'), 50))
    .description('list deliveries, the newest first')
    .action(act(async () => (await import('./quarantine.ts')).listQuarantineCommand))
  subcommand(quarantine, 'show <id>', 'show one delivery with its headers and body').action(
    act(async () => (await import('./quarantine.ts')).showQuarantineCommand),
  )
  const retry = 'verify again with the current settings, and accept genuine deliveries; by default all'
  subcommand(quarantine, 'retry [ids...]', retry).action(
    act(async () => (await import('./quarantine.ts')).retryQuarantineCommand),
  )
  subcommand(quarantine, 'drop [ids...]', 'delete deliveries')
    .option('--all', 'delete every delivery')
    .option('--reason <text>', 'why, for the audit log')
    .action(act(async () => (await import('./quarantine.ts')).dropQuarantineCommand))
}
