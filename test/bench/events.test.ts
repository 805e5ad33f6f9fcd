import { expect, test } from 'vitest'
import { redisInstalled } from '../support/redis.ts'
import { namesOf, type Smoked, smoke } from './run-bench.ts'

type Spread = { median: number }
type Report = {
  saturated: Spread
  perSecond: Spread
  eventsPerSecond: Spread
  delivered: { p50: Spread; p99: Spread }
  numbered: { p99: Spread }
  invariants: string
}

test.skipIf(!redisInstalled())(
  'the bench of events delivers each of them once, at half the pace that saturates',
  async () => {
    const { report, figures } = (await smoke('events')) as Smoked<Report>
    const { saturated, perSecond, eventsPerSecond, delivered, numbered, invariants } = report
    expect(perSecond.median).toBeCloseTo(Math.max(50, saturated.median / 2))
    for (const { median } of [eventsPerSecond, delivered.p50, numbered.p99]) expect(median).toBeGreaterThan(0)
    expect(delivered.p99.median).toBeGreaterThan(numbered.p99.median)
    expect(invariants).toMatch(/^held/)
    expect(namesOf(figures)).toEqual(['99 of 100 events arrive after the commit of their journal within'])
  },
  300_000,
)
