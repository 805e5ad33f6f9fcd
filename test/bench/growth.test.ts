import { expect, test } from 'vitest'
import { namesOf, type Smoked, smoke } from './run-bench.ts'

type Report = {
  sizes: { deposits: number; bytes: number }[]
  lines: { cost: string; ms: { median: number }[]; ratio: { median: number } }[]
}

test('the bench of growth measures scrapes, pages, calls and applying over books of three sizes', async () => {
  const { report, figures } = (await smoke('growth')) as Smoked<Report>
  const { sizes, lines } = report
  expect(sizes.map(({ deposits }) => deposits)).toEqual([500, 5000, 15_000])
  expect(sizes[2]?.bytes).toBeGreaterThan(sizes[0]?.bytes ?? 0)
  expect(lines.map(({ cost }) => cost)).toEqual([
    'scrape',
    'gauges, read anew',
    'sums, read anew',
    'scorecard of a day',
    'overview',
    'list, console',
    'mismatches, console',
    'show, console',
    'list',
    'list of a state',
    'list of an owner',
    'by transaction',
    'show',
    'statement',
    'apply, processor time per deposit',
  ])
  for (const { cost, ms } of lines) {
    expect(ms.length, cost).toBe(3)
    for (const { median } of ms) expect(median, cost).toBeGreaterThan(0)
  }
  expect(namesOf(figures)[0]).toBe('scrape: 15,000 deposits x 500')
}, 300_000)
