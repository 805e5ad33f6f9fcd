import { expect, test } from 'vitest'
import { namesOf, type Smoked, smoke } from './run-bench.ts'

type Report = {
  settings: Record<string, number>
  scrape: { series: number; firstMs: number }
  idleMs: { median: number }
  loadedMs: { median: number }
  processorMs: { perScrape: number }
  webhooksPerSecond: number
}

test('the scrape bench scrapes a daemon over a small database, which tells the deposits that are stored', async () => {
  const { report, figures } = (await smoke('scrape')) as Smoked<Report>
  const { settings, scrape, idleMs, loadedMs, processorMs, webhooksPerSecond } = report
  expect(settings).toMatchObject({ deposits: 1000, everySeconds: 1.5 })
  expect(scrape.series).toBeGreaterThan(200)
  for (const figure of [idleMs.median, loadedMs.median, webhooksPerSecond, scrape.firstMs])
    expect(figure).toBeGreaterThan(0)
  expect(processorMs.perScrape).toBeGreaterThanOrEqual(0)
  expect(namesOf(figures)).toEqual(['slowest answer to a scrape under load', 'processor time of a scrape'])
}, 180_000)
