import { expect, test } from 'vitest'
import { namesOf, type Smoked, smoke } from './run-bench.ts'

type Report = {
  settings: Record<string, number>
  posting: Record<string, { median: number }>
  rawShare: { median: number }
}

test('the ledger bench posts in every way, and both ways to balance a small ledger agree', async () => {
  const { report, figures } = (await smoke('ledger')) as Smoked<Report>
  const { settings, posting, rawShare } = report
  expect(settings).toMatchObject({ batched: 100, singles: 20, transfers: 5000 })
  expect(Object.keys(posting)).toEqual(['ours', 'unchecked', 'single', 'running'])
  for (const { median } of Object.values(posting)) expect(median).toBeGreaterThan(0)
  expect(rawShare.median).toBeGreaterThan(0)
  expect(namesOf(figures)).toEqual(['B5 ours x unchecked', 'B5 ours x running', 'B8 time of ours x raw'])
}, 180_000)
