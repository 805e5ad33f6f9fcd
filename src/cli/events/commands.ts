import type { Command, Option } from 'commander'
import { eventPayloads } from '../../core/event.ts'
import { signatureNames } from '../../outbox/signing-key.ts'
import { limited, listed } from '../lists.ts'
import { type Act, choice, ofService, ranged, spanOption, subcommand, timeOption } from '../options.ts'

const sequences = { min: 0, max: 999_999_999_999_999 }

export function describeEvents(program: Command, act: Act): void {
  const events = program
    .command('events')
    .description('events for your own systems: the feed, and the endpoints that they are sent to')
  const list = 'list events in order of their numbers, the oldest first'
  ofService(limited(subcommand(events, 'list', list), 100, 'events'))
    .addOption(ranged('--after <number>', 'only events after this one', sequences).default(0))
    .option('--type <type>', 'only this type, like deposit.credit_safe')
    .option('--owner <id>', 'only those of this channel or wallet')
    .option('--follow', 'print new events as they come, until stopped; with --json, one document per line')
    .action(act(async () => (await import('./events.ts')).listEventsCommand))
  describeEventEndpoints(events, act)
}

function describeEventEndpoints(events: Command, act: Act): void {
  const endpoint = events.command('endpoint').description('where events are sent to')
  subcommand(endpoint, 'create <name>', 'add an endpoint and print its secret, as an administrator')
    .requiredOption('--url <address>', 'where events are posted to')
    .addOption(choice('--payload <kind>', 'full, or thin: without "data"', eventPayloads).default('full'))
    .option('--types <list>', 'only these types of events, separated by commas')
    .option('--services <list>', 'only what is of these deposit services, separated by commas')
    .option('--owners <list>', 'only what is of these channels and wallets, separated by commas')
    .addOption(signature())
    .action(act(async () => (await import('./endpoints.ts')).createEndpointCommand))
  subcommand(endpoint, 'edit <name>', 'change what is sent and where to, as an administrator')
    .option('--url <address>', 'where events are posted to')
    .addOption(choice('--payload <kind>', 'full, or thin: without "data"', eventPayloads))
    .option('--types <list>', 'only these types of events, or all')
    .option('--services <list>', 'only what is of these deposit services, or all')
    .option('--owners <list>', 'only what is of these channels and wallets, or all')
    .action(act(async () => (await import('./endpoints.ts')).editEndpointCommand))
  listed(endpoint.command('list'), 50)
    .description('list endpoints without their secrets, by name')
    .action(act(async () => (await import('./endpoints.ts')).listEndpointsCommand))
  subcommand(endpoint, 'show <name>', 'show an endpoint and its last attempts').action(
    act(async () => (await import('./endpoints.ts')).showEndpointCommand),
  )
  subcommand(endpoint, 'test <name>', 'send a test event now, as an administrator').action(
    act(async () => (await import('./endpoints.ts')).testEndpointCommand),
  )
  subcommand(endpoint, 'pause <name>', 'send nothing until it is resumed, as an administrator').action(
    act(async () => (await import('./endpoints.ts')).pauseEndpointCommand),
  )
  subcommand(endpoint, 'resume <name>', 'send what waits, and what follows, as an administrator').action(
    act(async () => (await import('./endpoints.ts')).resumeEndpointCommand),
  )
  subcommand(endpoint, 'replay <name>', 'send events again, in order, as an administrator')
    .addOption(ranged('--from <sequence>', 'from this number on', { min: 1, max: 999_999_999_999 }))
    .addOption(timeOption('--since <time>', 'what happened since this day or time'))
    .action(act(async () => (await import('./endpoints.ts')).replayEndpointCommand))
  subcommand(endpoint, 'rotate <name>', 'make a new secret and print it, as an administrator')
    .addOption(signature())
    .addOption(
      spanOption('--overlap <span>', 'how long the secret before signs too; by default 24h').default(
        86_400_000,
        '24h',
      ),
    )
    .action(act(async () => (await import('./endpoints.ts')).rotateEndpointCommand))
  subcommand(endpoint, 'remove <name>', 'remove an endpoint permanently, as an administrator').action(
    act(async () => (await import('./endpoints.ts')).removeEndpointCommand),
  )
}

function signature(): Option {
  return choice('--signature <kind>', 'how events are signed', signatureNames).default('hmac')
}
