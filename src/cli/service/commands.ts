import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { listed } from '../lists.ts'
import { choice, noCommand, ranged } from '../options.ts'

const ports = { min: 1, max: 65_535 }

export function describeService(program: Command, context: Context): void {
  const service = program.command('service').description('the deposit service, without the daemon')
  service
    .command('start', { isDefault: true })
    .description('start the deposit service; without settings, start everything it needs on this machine')
    .addOption(ranged('--port <number>', 'port to listen on; by default the usual one or a free one', ports))
    .option('--faults', 'allow errors to be injected; none is active at first')
    .addOption(
      ranged('--admin-port <number>', 'port of the server that switches errors, with --faults', ports),
    )
    .option('--json', 'print one JSON document once the service is up')
    .allowExcessArguments()
    .action(async (options, { args: [word] }: Command) => {
      const names = service.commands.map((command) => command.name())
      if (word !== undefined) throw noCommand('service ', word, names)
      await (await import('./start.ts')).startServiceCommand(context, options)
    })
  describeKeys(service, context)
  service
    .command('pay')
    .description('pay from the faucet of the local chains, as a customer; prints the transaction')
    .requiredOption('--network <name>', 'network to pay on')
    .requiredOption('--asset <symbol>', 'asset to pay')
    .requiredOption('--amount <decimal>', 'amount in units of the asset, like 12.5')
    .requiredOption('--to <address>', 'address to pay, or the id of a channel or StableWallet')
    .option('--json', 'print a JSON document')
    .action(async (options) => (await import('./pay.ts')).payCommand(context, options))
  service
    .command('balance')
    .description('print the balance of an address on a local chain')
    .requiredOption('--network <name>', 'network of the address')
    .requiredOption('--asset <symbol>', 'asset of the balance')
    .requiredOption('--address <address>', 'address with the balance')
    .option('--json', 'print a JSON document')
    .action(async (options) => (await import('./pay.ts')).balanceCommand(context, options))
}

function describeKeys(service: Command, context: Context): void {
  const keys = service.command('keys').description('API keys of the service')
  keys
    .command('create')
    .description('create a key and print it; it is shown only once')
    .requiredOption('--name <text>', 'purpose of the key')
    .addOption(choice('--scope <scope>', 'write includes read', ['read', 'write']).makeOptionMandatory())
    .option('--json', 'print a JSON document')
    .action(async (options) => (await import('./keys.ts')).createKeyCommand(context, options))
  listed(keys.command('list'), 100)
    .description('list keys without their secrets, the oldest first')
    .action(async (options) => (await import('./keys.ts')).listKeysCommand(context, options))
  keys
    .command('revoke <id>')
    .description('revoke a key permanently')
    .option('--json', 'print a JSON document')
    .action(async (id, options) => (await import('./keys.ts')).revokeKeyCommand(context, id, options))
}
