import type { Command } from 'commander'
import { depositStates } from '../../core/judging/reconcile.ts'
import type { Context } from '../context.ts'
import { listed } from '../lists.ts'
import { decisionOptions } from '../mismatches/commands.ts'
import { choice } from '../options.ts'
import type { News } from '../print.ts'

export function describeDeposits(program: Command, context: Context, report: (news: News) => void): void {
  const deposits = program
    .command('deposits')
    .description('deposits, and what each source reports about them')
  listed(deposits.command('list'), 50)
    .description('list deposits, the newest first')
    .addOption(choice('--state <state>', 'only this state; by default all except ignored', depositStates))
    .option('--network <name>', 'only this network, of the settings or the database')
    .option('--owner <id>', 'only this channel or wallet')
    .action(async (options) => (await import('./deposits.ts')).listDepositsCommand(context, options))
  deposits
    .command('show <id>')
    .description("show one deposit, by its number, the service's id or a transaction")
    .option('--as-of <time>', 'show what was known and decided at that time')
    .option('--json', 'print a JSON document')
    .action(async (id, options) =>
      options.asOf === undefined
        ? (await import('./deposits.ts')).showDepositCommand(context, id, options)
        : (await import('./show-as-of.ts')).showAsOfCommand(context, id, options),
    )
  listed(deposits.command('proposals'), 50)
    .description('list chain transfers that no source links to a deposit, with the deposits that they fit')
    .action(async (options) => (await import('./deposits.ts')).listProposalsCommand(context, options))
  deposits
    .command('evidence <id>')
    .description('write all evidence of one deposit to a file that anyone can verify')
    .requiredOption('--out <file>', 'the file to write')
    .option('--json', 'print a JSON document')
    .action(async (id, options) =>
      report(await (await import('./evidence.ts')).makeEvidenceCommand(context, id, options)),
    )
  describeMatches(deposits, context)
  describeEvidence(program, context, report)
}

function describeMatches(deposits: Command, context: Context): void {
  const decisions = [
    ['match', 'together', 'decide that a chain transfer is the payment, or the delivery, of a deposit'],
    ['split', 'apart', 'decide that a chain transfer is neither the payment nor the delivery of a deposit'],
  ] as const
  for (const [name, kind, description] of decisions)
    decisionOptions(deposits.command(`${name} <deposit>`))
      .description(description)
      .requiredOption('--transfer <reference>', 'the chain transfer: network/transaction/index')
      .addOption(
        choice('--role <role>', 'the role of a transfer that is both a payment and a delivery', [
          'deposit',
          'recipient',
        ]),
      )
      .action(async (deposit, options) =>
        (await import('../mismatches/case-work.ts')).matchCommand(context, deposit, { ...options, kind }),
      )
}

function describeEvidence(program: Command, context: Context, report: (news: News) => void): void {
  program
    .command('evidence')
    .description('files written by "deposits evidence"')
    .command('verify <file>')
    .description('verify an evidence file, without the database; secrets come from WEBHOOK_SECRETS')
    .option(
      '--rpc <network=url>',
      'read its transactions again from this node; several nodes of a network must agree',
      (url: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), url],
    )
    .option('--public-keys <file>', "the sender's public keys, if it signs with a key pair")
    .option('--json', 'print a JSON document')
    .action(async (file, options) =>
      report(await (await import('./evidence.ts')).verifyEvidenceCommand(context, file, options)),
    )
}
