import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const bench = join(import.meta.dirname, '../../bench/run.ts')

type Report = {
  settings: { deposits: number; matched: number }
  sizes: { deposits: number; heapLast: number }[]
  score: string
  invariants: string
}

test('the reconcile bench applies and matches a small backlog, and each arm leaves the books right', async () => {
  const options = ['--json', '--rounds', '1', '--scale', '0.002', '--large']
  const { stdout } = await run(process.execPath, [bench, 'reconcile', ...options])
  const { settings, sizes, score, invariants } = JSON.parse(stdout) as Report
  expect(settings).toMatchObject({ deposits: 200, matched: 2000 })
  expect(sizes.map(({ deposits }) => deposits)).toEqual([200, 2000])
  expect(score).toMatch(/^precision 100\.0000 % .*, recall 100\.0000 %/)
  expect(invariants).toMatch(/^held/)
}, 180_000)
