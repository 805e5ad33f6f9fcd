import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { judge, type Line } from './judge.ts'
import { soak } from './soak.ts'

/** `npm run soak [-- --minutes N] [--backend redis|postgres] [--json] [--out FILE]`. Exits with 1 where a limit is exceeded. */

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    backend: { type: 'string', default: 'redis' },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
})
const minutes = Number(values.minutes)
const backend = (['redis', 'postgres'] as const).find((one) => one === values.backend)

if (!(minutes > 0) || backend === undefined) {
  process.stderr.write(
    'use: npm run soak -- [--minutes N] [--backend redis|postgres] [--json] [--out FILE]\n',
  )
  process.exitCode = 2
} else {
  const startedAt = new Date().toISOString()
  const load = loadavg()[0] ?? 0
  const soaked = await soak({ minutes, backend, say: (line) => void process.stderr.write(`${line}\n`) })
  const lines = judge(soaked)
  const document = { version: 1, startedAt, node: process.version, backend, load, lines, ...soaked }
  const text = `${JSON.stringify(document, null, 2)}\n`
  if (values.out !== undefined) writeFileSync(values.out, text)
  process.stdout.write(values.json ? text : lines.map(lineOf).join(''))
  if (lines.some(({ isHeld }) => isHeld === false)) process.exitCode = 1
}

function lineOf({ what, measured, limit, isHeld }: Line): string {
  const outcome = isHeld === null ? '' : isHeld ? 'held' : 'EXCEEDED'
  return `${what.padEnd(52)}  ${measured.padEnd(36)}  ${limit.padEnd(28)}  ${outcome}\n`
}
