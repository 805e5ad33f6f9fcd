import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { listed } from '../lists.ts'

/** `bin/depositd ledger prices`: the prices that value amounts. */
export function describePrices(ledger: Command, context: Context): void {
  const prices = ledger.command('prices').description('prices of assets, by which amounts are valued')
  prices
    .command('import <file>')
    .description('take prices from a .csv file: all of it or nothing')
    .option('--dry-run', 'check everything and keep nothing')
    .option('--json', 'print a JSON document')
    .action(async (file, options) =>
      (await import('./prices.ts')).importPricesCommand(context, { file, ...options }),
    )
  listed(prices.command('list'), 50)
    .description('the newest prices')
    .action(async (options) => (await import('./prices.ts')).listPricesCommand(context, options))
}
