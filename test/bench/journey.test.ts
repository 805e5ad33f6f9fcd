import { expect, test } from 'vitest'
import { redisInstalled } from '../support/redis.ts'
import { namesOf, type Smoked, smoke } from './run-bench.ts'

type Spread = { median: number }
type Report = {
  booked: { p99: Spread }
  reconciled: { p99: Spread }
  drain: { seconds: Spread }
  coldStart: { firstSeconds: Spread }
  invariants: string
}

test.skipIf(!redisInstalled())(
  'the bench of the whole way books every webhook, and all of a backlog',
  async () => {
    const { report, figures } = (await smoke('journey')) as Smoked<Report>
    const { booked, reconciled, drain, coldStart, invariants } = report
    for (const { median } of [booked.p99, reconciled.p99, drain.seconds, coldStart.firstSeconds])
      expect(median).toBeGreaterThan(0)
    // The record is read after the webhook is applied, so that what it books is booked later.
    expect(reconciled.p99.median).toBeGreaterThan(booked.p99.median)
    expect(invariants).toMatch(/^held/)
    expect(namesOf(figures)).toEqual([
      'B7 99 of 100 webhooks at 500/s are booked within',
      'B7 cold start with 500 inbox rows, to the first applied',
    ])
  },
  300_000,
)
