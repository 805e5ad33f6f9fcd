import type { Command } from 'commander'
import { depositStates } from '../../core/judging/reconcile.ts'
import { listed } from '../lists.ts'
import { type Act, choice, ofService, reasoned, subcommand, timeOption } from '../options.ts'
import { signedCommand } from '../people/commands.ts'

export function describeDeposits(program: Command, act: Act): void {
  const deposits = program
    .command('deposits')
    .description('deposits, and what each source reports about them')
  ofService(listed(deposits.command('list'), 50))
    .description('list deposits, the newest first')
    .addOption(choice('--state <state>', 'only this state; by default all except ignored', depositStates))
    .option('--network <name>', 'only this network, of the settings or the database')
    .option('--owner <id>', 'only this channel or wallet')
    .action(act(async () => (await import('./deposits.ts')).listDepositsCommand))
  subcommand(deposits, 'show <id>', "show one deposit, by its number, the service's id or a transaction")
    .addOption(timeOption('--as-of <time>', 'show what was known and decided at that time'))
    .action(act(async () => (await import('./show-as-of.ts')).showDepositCommand))
  ofService(listed(deposits.command('proposals'), 50))
    .description('list chain transfers that no source links to a deposit, with the deposits that they fit')
    .action(act(async () => (await import('./deposits.ts')).listProposalsCommand))
  const evidence = 'write all evidence of one deposit to a file that anyone can verify'
  subcommand(deposits, 'evidence <id>', evidence)
    .requiredOption('--out <file>', 'the file to write')
    .action(act(async () => (await import('./evidence.ts')).makeEvidenceCommand))
  describeMatches(deposits, act)
  describeEvidence(program, act)
}

function describeMatches(deposits: Command, act: Act): void {
  const decisions = [
    ['match', 'together', 'decide that a chain transfer is the payment, or the delivery, of a deposit'],
    ['split', 'apart', 'decide that a chain transfer is neither the payment nor the delivery of a deposit'],
  ] as const
  const role = 'the role of a transfer that is both a payment and a delivery'
  for (const [name, kind, description] of decisions)
    reasoned(signedCommand(deposits, `${name} <deposit>`, description))
      .requiredOption('--transfer <reference>', 'the chain transfer: network/transaction/index')
      .addOption(choice('--role <role>', role, ['deposit', 'recipient']))
      .setOptionValue('kind', kind)
      .action(act(async () => (await import('../mismatches/case-work.ts')).matchCommand))
}

function describeEvidence(program: Command, act: Act): void {
  const evidence = program.command('evidence').description('files written by "deposits evidence"')
  const what =
    'verify an evidence file, without the database; secrets come from WEBHOOK_SECRETS, or WEBHOOK_SECRETS_NAME for a named service'
  subcommand(evidence, 'verify <file>', what)
    .option(
      '--rpc <network=url>',
      'read its transactions again from this node; several nodes of a network must agree',
      (url: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), url],
    )
    .option('--public-keys <file>', "the sender's public keys, if it signs with a key pair")
    .option(
      '--administrator <key>',
      'the public key of the first administrator; by default ADMINISTRATOR_KEY',
    )
    .action(act(async () => (await import('./evidence.ts')).verifyEvidenceCommand))
}
