import { expect, test } from 'vitest'
import { type Histogram, quantileOf, shareWithin, since } from '../../bench/api/read-histogram.ts'
import { redisInstalled } from '../support/redis.ts'
import { namesOf, type Smoked, smoke } from './run-bench.ts'

type Spread = { median: number }
type Report = {
  settings: Record<string, number>
  reads: { paced: Record<'within20' | 'serverP99' | 'callerP99', Spread>; full: { serverP99: Spread } }
  webhooksPerSecond: Record<string, Spread>
  intake: Spread
  invariants: string
}

test.skipIf(!redisInstalled())(
  'the bench of the API reads deposits of a small database beside webhooks',
  async () => {
    const { report, figures } = (await smoke('api')) as Smoked<Report>
    const { settings, reads, webhooksPerSecond, intake, invariants } = report
    expect(settings).toMatchObject({ deposits: 1000, webhooks: 100 })
    const { paced, full } = reads
    const spreads = [paced.serverP99, paced.callerP99, full.serverP99, intake]
    for (const { median } of [...spreads, ...Object.values(webhooksPerSecond)])
      expect(median).toBeGreaterThan(0)
    expect(paced.within20.median).toBeLessThanOrEqual(1)
    expect(invariants).toMatch(/^held/)
    expect(namesOf(figures)).toEqual([
      '99 of 100 reads by transaction over 1,000 deposits, beside 500 webhooks/s, in the server',
      'ours x intake without reads',
    ])
  },
  300_000,
)

test('a histogram gives quantiles as Prometheus does, of what came between two readings', () => {
  const all = Number.POSITIVE_INFINITY
  const before: Histogram = new Map([
    [0.01, 10],
    [0.02, 10],
    [all, 10],
  ])
  const after: Histogram = new Map([
    [0.01, 100],
    [0.02, 108],
    [all, 110],
  ])
  const between = since(before, after)
  expect(shareWithin(between, 0.02)).toBeCloseTo(0.98)
  expect(quantileOf(between, 0.45)).toBeCloseTo(0.005)
  expect(quantileOf(between, 0.94)).toBeCloseTo(0.015)
  expect(quantileOf(between, 0.99)).toBe(0.02)
})
