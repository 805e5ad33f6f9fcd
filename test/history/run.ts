import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureHistory } from './measure.ts'

/**
 * `npm run history [-- --rate N] [--kills N] [--networks base,solana] [--recorded] [--onboard] [--json]`, with as many deposits as `DEPOSITS` says.
 * Exits with 1 if a deposit is left, or if the estimate is wrong.
 */

const { values } = parseArgs({
  options: {
    deposits: { type: 'string', default: process.env.DEPOSITS ?? '500' },
    owners: { type: 'string', default: '20' },
    networks: { type: 'string', default: 'base,solana' },
    rate: { type: 'string', default: '100' },
    kills: { type: 'string', default: '1' },
    recorded: { type: 'boolean', default: false },
    onboard: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const [deposits, owners, rate, kills] = [values.deposits, values.owners, values.rate, values.kills].map(
  Number,
)

const folder = mkdtempSync(join(tmpdir(), 'depositd-history-'))
try {
  const { lines, ...measured } = await measureHistory(
    {
      deposits: deposits ?? 0,
      owners: owners ?? 0,
      networks: values.networks.split(','),
      rate: rate ?? 0,
      kills: kills ?? 0,
      isRecorded: values.recorded,
      isOnboarded: values.onboard,
      folder,
    },
    (line) => void process.stderr.write(`${line}\n`),
  )
  const text = lines.map(({ what, measured: value, limit, isHeld }) => {
    const outcome = isHeld === null ? '' : isHeld ? 'held' : 'EXCEEDED'
    return `${what.padEnd(52)}  ${value.padEnd(44)}  ${limit.padEnd(28)}  ${outcome}\n`
  })
  const document = { version: 1, node: process.version, ...measured, lines }
  process.stdout.write(values.json ? `${JSON.stringify(document, null, 2)}\n` : text.join(''))
  if (lines.some(({ isHeld }) => isHeld === false)) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
