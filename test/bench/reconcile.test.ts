import { expect, test } from 'vitest'
import { namesOf, type Smoked, smoke } from './run-bench.ts'

type Report = {
  settings: { deposits: number; matched: number }
  apply: { sizes: { deposits: number; heapLast: number }[]; invariants: string } | null
  match: { score: string } | null
}

test('the reconcile bench applies and matches a small backlog, and each arm leaves the books right', async () => {
  const { report, figures } = (await smoke('reconcile')) as Smoked<Report>
  const { settings, apply, match } = report
  expect(settings).toMatchObject({ deposits: 200, matched: 2000 })
  expect(apply?.sizes.map(({ deposits }) => deposits)).toEqual([20, 200])
  expect(apply?.invariants).toMatch(/^held/)
  expect(match?.score).toMatch(/^precision 100\.0000 % .*, recall 100\.0000 %/)
  expect(namesOf(figures)).toEqual([
    'B3 ours x copy',
    'B3 ours x rows',
    'B3 time per deposit of 200 x that of the least',
    'B3 heap after 200 x that after the first batches',
    'B4 ours x join',
    'B4 precision and recall',
  ])
}, 180_000)

test('matching is measured alone where only that is asked for', async () => {
  const { report } = (await smoke('reconcile match')) as Smoked<Report>
  expect(report).toMatchObject({
    apply: null,
    match: { score: expect.stringMatching(/^precision 100/) },
  })
}, 60_000)
