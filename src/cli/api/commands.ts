import type { Command } from 'commander'
import { tokenScopes } from '../../people/roles.ts'
import { listed } from '../lists.ts'
import { type Act, subcommand } from '../options.ts'

export function describeApiTokens(program: Command, act: Act): void {
  const api = program.command('api').description('the read API of the daemon, on API_PORT')
  const token = api.command('token').description('tokens of the API; each is a named service account')
  subcommand(
    token,
    'create <name>',
    'create a token and print it, as an administrator; it is shown only once',
  )
    .requiredOption('--scopes <list>', `separated by commas: ${tokenScopes.join(', ')}`)
    .option('--services <list>', 'only what is of these deposit services, separated by commas')
    .option('--owners <list>', 'only what is of these channels and wallets, separated by commas')
    .action(act(async () => (await import('./tokens.ts')).createTokenCommand))
  listed(token.command('list'), 100)
    .description('list tokens without their secrets, the oldest first')
    .action(act(async () => (await import('./tokens.ts')).listTokensCommand))
  subcommand(token, 'revoke <name>', 'revoke a token permanently, as an administrator').action(
    act(async () => (await import('./tokens.ts')).revokeTokenCommand),
  )
}
