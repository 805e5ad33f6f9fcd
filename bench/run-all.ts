import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type BenchDocument, type BenchName, numbered, type Sizes } from './benches.ts'

type Keep = (document: BenchDocument) => void

/**
 * Runs one bench after the other, each in a process of its own, so that none finds the memory as another left it.
 * @param keep is given what there is after each.
 */
export async function runAll(sizes: Sizes & { smoke: boolean }, keep: Keep): Promise<BenchDocument> {
  const startedAt = new Date()
  const document: BenchDocument = {
    version: 1,
    startedAt: startedAt.toISOString(),
    benches: [],
    figures: [],
  }
  for (const [place, name] of numbered.entries()) {
    const minutes = ((Date.now() - startedAt.getTime()) / 60_000).toFixed(1)
    process.stderr.write(`\n${place + 1} of ${numbered.length}: ${name}, after ${minutes} minutes\n`)
    const { benches, figures } = await runAlone(name, sizes)
    document.benches.push(...benches)
    document.figures.push(...figures)
    keep(document)
  }
  return document
}

type Ran = Pick<BenchDocument, 'benches' | 'figures'>

async function runAlone(
  name: BenchName,
  { smoke, large, rounds, seconds, scale }: Sizes & { smoke: boolean },
): Promise<Ran> {
  const options = [
    '--json',
    `--rounds=${rounds}`,
    `--seconds=${seconds}`,
    `--scale=${scale}`,
    ...(smoke ? ['--smoke'] : []),
    ...(large ? ['--large'] : []),
  ]
  const program = join(import.meta.dirname, 'run.ts')
  const child = spawn(process.execPath, [program, ...name.split(' '), ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // What the child started ends with it, and it is not to go on alone.
  const stop = (signal: NodeJS.Signals) => {
    child.once('exit', () => process.exit(1)).kill(signal)
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  const said = await text(child.stdout)
  process.off('SIGINT', stop).off('SIGTERM', stop)
  if (said === '')
    return { benches: [{ name, seconds: 0, report: null, error: 'it ended early' }], figures: [] }
  return JSON.parse(said) as BenchDocument
}
