import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const program = join(import.meta.dirname, '../../bench/run.ts')

type Report = {
  settings: Record<string, number>
  scrape: { series: number; firstMs: number }
  idleMs: { median: number }
  loadedMs: { median: number }
  processorMs: { perScrape: number }
  webhooksPerSecond: number
}

test('the scrape bench scrapes a daemon over a small database, which tells the deposits that are stored', async () => {
  const options = ['--json', '--rounds', '2', '--scale', '0.01']
  const { stdout } = await run(process.execPath, [program, 'scrape', ...options])
  const { settings, scrape, idleMs, loadedMs, processorMs, webhooksPerSecond } = JSON.parse(stdout) as Report
  expect(settings).toMatchObject({ deposits: 1000, everySeconds: 1.5 })
  expect(scrape.series).toBeGreaterThan(200)
  for (const figure of [idleMs.median, loadedMs.median, webhooksPerSecond, scrape.firstMs])
    expect(figure).toBeGreaterThan(0)
  expect(processorMs.perScrape).toBeGreaterThanOrEqual(0)
}, 180_000)
