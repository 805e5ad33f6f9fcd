import type { Command } from 'commander'
import { limited } from '../lists.ts'
import { type Act, ofService, ranged, subcommand } from '../options.ts'

const sequences = { min: 0, max: 999_999_999_999_999 }

export function describeEvents(program: Command, act: Act): void {
  const events = program
    .command('events')
    .description('the feed of events, which the API has for other systems')
  const list = 'list events in order of their numbers, the oldest first'
  ofService(limited(subcommand(events, 'list', list), 100, 'events'))
    .addOption(ranged('--after <number>', 'only events after this one', sequences).default(0))
    .option('--type <type>', 'only this type, like deposit.credit_safe')
    .option('--owner <id>', 'only those of this channel or wallet')
    .option('--follow', 'print new events as they come, until stopped; with --json, one document per line')
    .action(act(async () => (await import('./events.ts')).listEventsCommand))
}
