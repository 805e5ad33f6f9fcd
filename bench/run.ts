import { parseArgs } from 'node:util'
import { runIntake } from './intake/run.ts'

/** `npm run bench -- NAME [--json] [--rounds N] [--seconds N]`: speed against other ways to do the same. */

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
  },
})
const settings = { rounds: Number(values.rounds), seconds: Number(values.seconds), json: values.json }
const isWhole = [settings.rounds, settings.seconds].every((count) => Number.isInteger(count) && count > 0)

if (positionals.join(' ') === 'intake' && isWhole) await runIntake(settings)
else {
  process.stderr.write('use: npm run bench -- intake [--json] [--rounds N] [--seconds N]\n')
  process.exitCode = 2
}
