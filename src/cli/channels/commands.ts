import type { Command } from 'commander'
import type { Owner } from '../../core/evidence.ts'
import type { Context } from '../context.ts'
import { listed } from '../lists.ts'

export function describeOwners(program: Command, context: Context): void {
  const channels = program
    .command('channels')
    .description('channels: deposit addresses that forward deposits')
  channels
    .command('create <id>')
    .description('create a channel at the service and watch its addresses')
    .requiredOption('--network <name>', 'network to forward to')
    .requiredOption('--asset <symbol>', 'asset to deliver')
    .requiredOption('--recipient <address>', 'address to deliver to')
    .option('--json', 'print a JSON document')
    .action(async (id, options) =>
      (await import('./owners.ts')).createChannelCommand(context, { id, ...options }),
    )
  describeBook(channels, context, 'channel')
  const wallets = program
    .command('wallets')
    .description('StableWallets: deposit addresses that are credited in USDC')
  wallets
    .command('create <id>')
    .description('create a StableWallet at the service and watch its addresses')
    .option('--json', 'print a JSON document')
    .action(async (id, options) =>
      (await import('./owners.ts')).createWalletCommand(context, { id, ...options }),
    )
  describeBook(wallets, context, 'stable_wallet')
}

function describeBook(command: Command, context: Context, kind: Owner['kind']): void {
  listed(command.command('list'), 100, 'addresses')
    .description('list the address book')
    .option('--remote', "list the service's own records, and compare them with the address book")
    .action(async (options) => (await import('./owners.ts')).listOwnersCommand(context, kind, options))
  command
    .command('import <file>')
    .description('import existing ones into the address book, from a .csv or .json file: all of them or none')
    .option('--dry-run', 'check everything and store nothing')
    .option('--json', 'print a JSON document')
    .action(async (file, options) =>
      (await import('./owners.ts')).importOwnersCommand(context, kind, { file, ...options }),
    )
}
