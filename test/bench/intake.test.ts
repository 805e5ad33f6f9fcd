import { expect, test } from 'vitest'
import { redisInstalled } from '../support/redis.ts'
import { namesOf, type Smoked, smoke } from './run-bench.ts'

type Report = { invariants: string; requests: { arm: string; perSecond: { median: number } }[] }

test.skipIf(!redisInstalled())(
  'the intake bench answers and stores in every way',
  async () => {
    const { report, figures } = (await smoke('intake')) as Smoked<Report>
    expect(report.requests.map(({ arm }) => arm)).toEqual([
      'ours',
      'bare',
      'verify',
      'writer',
      'queue',
      'insert',
    ])
    for (const { perSecond } of report.requests) expect(perSecond.median).toBeGreaterThan(0)
    expect(report.invariants).toMatch(/^held/)
    expect(namesOf(figures)).toEqual([
      'B1 ours x bare',
      'B1 ours x verify',
      'B1 ours x queue',
      'B1 ours x insert',
      'B1 99 of 100 are answered within',
      'B2 ours x unnest',
      'B2 ours x copy',
    ])
  },
  300_000,
)
