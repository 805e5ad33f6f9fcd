import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const program = join(import.meta.dirname, '../../bench/run.ts')

type Report = {
  settings: { deposits: number; matched: number }
  apply: { sizes: { deposits: number; heapLast: number }[]; invariants: string } | null
  match: { score: string } | null
}

async function bench(...words: string[]): Promise<Report> {
  const options = ['--json', '--rounds', '1', '--scale', '0.002']
  const { stdout } = await run(process.execPath, [program, ...words, ...options])
  return JSON.parse(stdout) as Report
}

test('the reconcile bench applies and matches a small backlog, and each arm leaves the books right', async () => {
  const { settings, apply, match } = await bench('reconcile', '--large')
  expect(settings).toMatchObject({ deposits: 200, matched: 2000 })
  expect(apply?.sizes.map(({ deposits }) => deposits)).toEqual([200, 2000])
  expect(apply?.invariants).toMatch(/^held/)
  expect(match?.score).toMatch(/^precision 100\.0000 % .*, recall 100\.0000 %/)
}, 180_000)

test('matching is measured alone where only that is asked for', async () => {
  expect(await bench('reconcile', 'match')).toMatchObject({
    apply: null,
    match: { score: expect.stringMatching(/^precision 100/) },
  })
}, 60_000)
