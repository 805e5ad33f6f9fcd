import type { Command } from 'commander'
import type { Context } from '../context.ts'
import type { News } from '../print.ts'

export function describeDoctor(program: Command, context: Context, report: (news: News) => void): void {
  program
    .command('doctor')
    .description('check every setting and connection, and print how to fix each problem')
    .option('--balances', 'also prove the balance of every deposit address')
    .option('--cost', 'only print how many requests a day the nodes receive with these settings')
    .option('--json', 'print a JSON document')
    .action(async (options) => report(await (await import('./doctor.ts')).doctorCommand(context, options)))
}
