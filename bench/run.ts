import { parseArgs } from 'node:util'
import { runChain } from './chain/run.ts'
import { runChainSolana } from './chain/solana/run.ts'
import { runIntake } from './intake/run.ts'
import { runLedger } from './ledger/run.ts'
import { runReconcile } from './reconcile/run.ts'
import { runScrape } from './scrape/run.ts'

/** `npm run bench -- NAME [OPTIONS]`: speed against other ways to do the same. */

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    scale: { type: 'string', default: '1' },
  },
})
const { json, large } = values
const [rounds, seconds, scale] = [Number(values.rounds), Number(values.seconds), Number(values.scale)]
const isRight =
  [rounds, seconds].every((count) => Number.isInteger(count) && count > 0) && scale > 0 && scale <= 1
const benches = new Map<string, () => Promise<void>>([
  ['intake', () => runIntake({ rounds, seconds, json })],
  ['chain', () => runChain({ rounds, scale, json })],
  ['reconcile', () => runReconcile({ rounds, scale, json, large })],
  ['reconcile apply', () => runReconcile({ rounds, scale, json, large, parts: ['apply'] })],
  ['reconcile match', () => runReconcile({ rounds, scale, json, large, parts: ['match'] })],
  ['ledger', () => runLedger({ rounds, scale, json })],
  ['scrape', () => runScrape({ rounds, scale, json, large })],
  ['chain solana', () => runChainSolana({ rounds, scale, json })],
])
const bench = benches.get(positionals.join(' '))

if (bench !== undefined && isRight) await bench()
else {
  const uses = [
    'intake [--json] [--rounds N] [--seconds N]',
    'chain [solana] [--json] [--rounds N] [--scale 0..1]',
    'ledger [--json] [--rounds N] [--scale 0..1]',
    'reconcile [apply | match] [--json] [--rounds N] [--scale 0..1] [--large]',
    'scrape [--json] [--rounds N] [--scale 0..1] [--large]',
  ]
  process.stderr.write(uses.map((use) => `use: npm run bench -- ${use}\n`).join(''))
  process.exitCode = 2
}
