import type { Command } from 'commander'
import type { Owner } from '../../core/evidence.ts'
import { listed } from '../lists.ts'
import { type Act, ofService, reasoned, timeOption } from '../options.ts'
import { signedCommand } from '../people/commands.ts'

const createChannel = 'create a channel at the service and watch its addresses'
const createWallet = 'create a StableWallet at the service and watch its addresses'
const atService = 'the deposit service; by default that of SERVICE_URL'

export function describeOwners(program: Command, act: Act): void {
  const channels = program
    .command('channels')
    .description('channels: deposit addresses that forward deposits')
  ofService(signedCommand(channels, 'create <id>', createChannel), atService)
    .requiredOption('--network <name>', 'network to forward to')
    .requiredOption('--asset <symbol>', 'asset to deliver')
    .requiredOption('--recipient <address>', 'address to deliver to')
    .action(act(async () => (await import('./owners.ts')).createChannelCommand))
  describeBook(channels, act, 'channel')
  const wallets = program
    .command('wallets')
    .description('StableWallets: deposit addresses that are credited in USDC')
  ofService(signedCommand(wallets, 'create <id>', createWallet), atService).action(
    act(async () => (await import('./owners.ts')).createWalletCommand),
  )
  describeBook(wallets, act, 'stable_wallet')
}

function describeBook(group: Command, act: Act, kind: Owner['kind']): void {
  ofService(listed(group.command('list'), 100, 'addresses'))
    .description('list the address book')
    .option('--remote', "list the service's own records, and compare them with the address book")
    .setOptionValue('kind', kind)
    .action(act(async () => (await import('./owners.ts')).listOwnersCommand))
  const what = 'import existing ones into the address book, from a .csv or .json file: all of them or none'
  signedCommand(group, 'import <file>', what)
    .option('--dry-run', 'check everything and store nothing')
    .setOptionValue('kind', kind)
    .action(act(async () => (await import('./owners.ts')).importOwnersCommand))
  const retire =
    'end the validity of deposit addresses, which stay watched: payments from then on are a mismatch, and are not booked for the owner'
  reasoned(signedCommand(group, 'retire <id>', retire))
    .option('--network <name>', 'only the address on this network')
    .addOption(timeOption('--at <time>', 'when the validity ends; by default now').conflicts('withdraw'))
    .option('--withdraw', 'withdraw the end: the addresses are valid again')
    .setOptionValue('kind', kind)
    .action(act(async () => (await import('./owners.ts')).retireCommand))
}
