import type { Command } from 'commander'
import { listed } from '../lists.ts'
import { type Act, choice, ranged, subcommand } from '../options.ts'

const ports = { min: 1, max: 65_535 }

export function describeService(program: Command, act: Act): void {
  const service = program.command('service').description('the deposit service, without the daemon')
  const adminPort = 'port of the server that switches errors; implies --faults'
  service
    .command('start', { isDefault: true })
    .description('start the deposit service; without settings, start everything it needs on this machine')
    .addOption(ranged('--port <number>', 'port to listen on; by default the usual one or a free one', ports))
    .option('--faults', 'allow errors to be injected; none is active at first')
    .addOption(ranged('--admin-port <number>', adminPort, ports).implies({ faults: true }))
    .option('--json', 'print one JSON document once the service is up')
    .action(act(async () => (await import('./start.ts')).startServiceCommand))
  describeKeys(service, act)
  subcommand(service, 'pay', 'pay from the faucet of the local chains, as a customer; prints the transaction')
    .requiredOption('--network <name>', 'network to pay on')
    .requiredOption('--asset <symbol>', 'asset to pay')
    .requiredOption('--amount <decimal>', 'amount in units of the asset, like 12.5')
    .requiredOption('--to <address>', 'address to pay, or the id of a channel or StableWallet')
    .action(act(async () => (await import('./pay.ts')).payCommand))
  subcommand(service, 'balance', 'print the balance of an address on a local chain')
    .requiredOption('--network <name>', 'network of the address')
    .requiredOption('--asset <symbol>', 'asset of the balance')
    .requiredOption('--address <address>', 'address with the balance')
    .action(act(async () => (await import('./pay.ts')).balanceCommand))
}

function describeKeys(service: Command, act: Act): void {
  const keys = service.command('keys').description('API keys of the service')
  subcommand(keys, 'create', 'create a key and print it; it is shown only once')
    .requiredOption('--name <text>', 'purpose of the key')
    .addOption(choice('--scope <scope>', 'write includes read', ['read', 'write']).makeOptionMandatory())
    .action(act(async () => (await import('./keys.ts')).createKeyCommand))
  listed(keys.command('list'), 100)
    .description('list keys without their secrets, the oldest first')
    .action(act(async () => (await import('./keys.ts')).listKeysCommand))
  subcommand(keys, 'revoke <id>', 'revoke a key permanently').action(
    act(async () => (await import('./keys.ts')).revokeKeyCommand),
  )
}
