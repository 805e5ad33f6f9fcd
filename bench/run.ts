import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { messageOf } from '../src/core/errors.ts'
import { type BenchDocument, type BenchName, benchNames, runBench, smokeOf } from './benches.ts'
import { tableOf } from './result.ts'
import { runAll } from './run-all.ts'

/** `npm run bench [-- NAME] [OPTIONS]`: speed against other ways to do the same; without a name, B1 to B8 in turn. */

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    out: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    scale: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '4' },
    smoke: { type: 'boolean', default: false },
  },
})
const { json, large, out, smoke } = values
const [rounds, seconds, scale] = [Number(values.rounds), Number(values.seconds), Number(values.scale)]
const isRight =
  [rounds, seconds].every((count) => Number.isInteger(count) && count > 0) && scale > 0 && scale <= 1
const asked = positionals.join(' ')
const name = benchNames.find((one) => one === asked)

if (!isRight || (asked !== '' && name === undefined)) {
  const options = '[--smoke] [--rounds N] [--seconds N] [--scale 0..1] [--large] [--json] [--out FILE]'
  process.stderr.write(`use: npm run bench -- [NAME] ${options}\nNAME is one of: ${benchNames.join(', ')}\n`)
  process.exitCode = 2
} else if (name === undefined) finish(await runAll({ smoke, rounds, seconds, scale, large }, keep))
else finish(await runOne(name))

async function runOne(one: BenchName): Promise<BenchDocument> {
  const startedAt = new Date()
  const sized = { rounds, seconds, scale, large, ...(smoke && smokeOf(one)) }
  const outcome = await runBench(one, sized).catch((error: unknown) => ({ error: messageOf(error) }))
  const took = Math.round((Date.now() - startedAt.getTime()) / 1000)
  const ended = { name: one, seconds: took, report: null, error: null }
  const started = { version: 1, startedAt: startedAt.toISOString() } as const
  if ('error' in outcome) return { ...started, benches: [{ ...ended, error: outcome.error }], figures: [] }
  if (!json) process.stdout.write(`${outcome.text}\n`)
  return { ...started, benches: [{ ...ended, report: outcome.report }], figures: [...outcome.figures] }
}

function keep(document: BenchDocument): void {
  if (out !== undefined) writeFileSync(out, textOf(document))
}

function textOf(document: BenchDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`
}

function finish(document: BenchDocument): void {
  keep(document)
  if (json) process.stdout.write(textOf(document))
  else if (document.figures.length > 0) process.stdout.write(tableOf(document.figures))
  for (const { name: one, error } of document.benches) {
    if (error === null) continue
    process.stderr.write(`${one} is void: ${error}\n`)
    process.exitCode = 1
  }
}
