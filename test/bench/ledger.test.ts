import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const program = join(import.meta.dirname, '../../bench/run.ts')

type Report = {
  settings: Record<string, number>
  posting: Record<string, { median: number }>
  rawShare: { median: number }
}

test('the ledger bench posts in every way, and both ways to balance a small ledger agree', async () => {
  const options = ['--json', '--rounds', '1', '--scale', '0.001']
  const { stdout } = await run(process.execPath, [program, 'ledger', ...options])
  const { settings, posting, rawShare } = JSON.parse(stdout) as Report
  expect(settings).toMatchObject({ batched: 100, singles: 20, transfers: 5000 })
  expect(Object.keys(posting)).toEqual(['ours', 'unchecked', 'single', 'running'])
  for (const { median } of Object.values(posting)) expect(median).toBeGreaterThan(0)
  expect(rawShare.median).toBeGreaterThan(0)
}, 180_000)
