import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { listed } from '../lists.ts'
import { choice, noCommand, ranged } from '../options.ts'

const ports = { min: 1, max: 65_535 }

/** `bin/depositd service …`: the deposit service alone, and an integrator's shell commands for it. */
export function describeService(program: Command, context: Context): void {
  const service = program.command('service').description('the deposit service alone')
  service
    .command('start', { isDefault: true })
    .description('start the deposit service; without settings, with everything it needs on this machine')
    .addOption(ranged('--port <number>', 'port to listen on; without it the usual one or a free one', ports))
    .option('--faults', 'let the service be told to make errors; none is made until it is told')
    .addOption(ranged('--admin-port <number>', 'port on which errors are switched, with --faults', ports))
    .option('--json', 'print one JSON document once it is up')
    .allowExcessArguments()
    .action(async (options, { args: [word] }: Command) => {
      const names = service.commands.map((command) => command.name())
      if (word !== undefined) throw noCommand('service ', word, names)
      await (await import('./start.ts')).startServiceCommand(context, options)
    })
  describeKeys(service, context)
  service
    .command('pay')
    .description('pay from the faucet of the local chains, as a customer would; prints the transaction')
    .requiredOption('--network <name>', 'network to pay on')
    .requiredOption('--asset <symbol>', 'asset to pay')
    .requiredOption('--amount <decimal>', 'how much, in whole units of the asset, like 12.5')
    .requiredOption('--to <address>', 'address to pay, or the id of a channel or StableWallet')
    .option('--json', 'print a JSON document')
    .action(async (options) => (await import('./pay.ts')).payCommand(context, options))
  service
    .command('balance')
    .description('what an address holds on a local chain; prints a decimal number')
    .requiredOption('--network <name>', 'network to look at')
    .requiredOption('--asset <symbol>', 'asset to count')
    .requiredOption('--address <address>', 'whose balance')
    .option('--json', 'print a JSON document')
    .action(async (options) => (await import('./pay.ts')).balanceCommand(context, options))
}

function describeKeys(service: Command, context: Context): void {
  const keys = service.command('keys').description('API keys of the service')
  keys
    .command('create')
    .description('create a key; prints it, this once')
    .requiredOption('--name <text>', 'what it is for')
    .addOption(choice('--scope <scope>', 'write may read, too', ['read', 'write']).makeOptionMandatory())
    .option('--json', 'print a JSON document')
    .action(async (options) => (await import('./keys.ts')).createKeyCommand(context, options))
  listed(keys.command('list'), 100)
    .description('keys without their secrets, the oldest first')
    .action(async (options) => (await import('./keys.ts')).listKeysCommand(context, options))
  keys
    .command('revoke <id>')
    .description('refuse a key from its next request on, for good')
    .option('--json', 'print a JSON document')
    .action(async (id, options) => (await import('./keys.ts')).revokeKeyCommand(context, id, options))
}
