import type { Command } from 'commander'
import type { Context } from '../context.ts'
import type { News } from '../print.ts'

/** Commands for evidence of deposits in a file that can be verified elsewhere. */
export function describeEvidence(
  { program, deposits }: { program: Command; deposits: Command },
  context: Context,
  report: (news: News) => void,
): void {
  deposits
    .command('evidence <id>')
    .description('write all evidence of one deposit into one file, which can be verified without us')
    .requiredOption('--out <file>', 'where to')
    .option('--json', 'print a JSON document')
    .action(async (id, options) =>
      report(await (await import('./evidence.ts')).makeEvidenceCommand(context, id, options)),
    )
  program
    .command('evidence')
    .description('files that "deposits evidence" wrote')
    .command('verify <file>')
    .description('check all that can be checked of it, without the database; secrets from WEBHOOK_SECRETS')
    .option(
      '--rpc <network=url>',
      'read its transactions again on this node; several of a network must agree',
      several,
    )
    .option('--public-keys <file>', "the sender's public keys, where it signs by one")
    .option('--json', 'print a JSON document')
    .action(async (file, options) =>
      report(await (await import('./evidence.ts')).verifyEvidenceCommand(context, file, options)),
    )
}

/** Collects an option that may be given more than once. */
function several(word: string, before: readonly string[] = []): string[] {
  return [...before, word]
}
