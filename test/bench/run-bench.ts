import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { BenchDocument, BenchName } from '../../bench/benches.ts'
import type { Figure } from '../../bench/result.ts'

const run = promisify(execFile)
export const program = join(import.meta.dirname, '../../bench/run.ts')

/** What a bench reports, and its lines of the table. */
export type Smoked<Report> = { report: Report; figures: readonly Figure[] }

/** Runs a bench at its smallest size, as CI does. @throws with what it said where it is void */
export async function smoke(name: BenchName): Promise<Smoked<object>> {
  const words = [program, ...name.split(' '), '--smoke', '--json']
  const { stdout } = await run(process.execPath, words)
  const { benches, figures } = JSON.parse(stdout) as BenchDocument
  const [bench] = benches
  if (bench?.report == null) throw new Error(`${name} has no report`)
  return { report: bench.report, figures }
}

/** What a bench's figures are about; each of them was measured. */
export function namesOf(figures: readonly Figure[]): string[] {
  return figures.map(({ bench, what, target, measured }) => {
    if (target === '' || !/\d/.test(measured) || /NaN|Infinity/.test(measured))
      throw new Error(`${what} was not measured: ${measured}`)
    return `${bench} ${what}`.trim()
  })
}
