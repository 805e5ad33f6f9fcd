import { expect, test } from 'vitest'
import { reportCanary } from '../../src/ops/canary.ts'
import { createMetrics } from '../../src/ops/metrics.ts'

async function reported(result: { outcome: string; seconds: number; problem: string | null }) {
  const metrics = createMetrics('1', { network: ['base'] })
  const lines: object[] = []
  const write = (fields: object) => void lines.push(fields)
  reportCanary(metrics, { debug: write, info: write, warn: write, error: write }, result)
  const page = await metrics.registry.metrics()
  const value = (series: string) => new RegExp(`^depositd_canary_${series} (.+)$`, 'm').exec(page)?.[1]
  const count = value(`webhooks_total{outcome="${result.outcome}"}`)
  return { count, roundTrips: value('webhook_seconds_count'), lines }
}

test('a canary that arrives is counted and timed, and not logged', async () => {
  expect(await reported({ outcome: 'received', seconds: 0.2, problem: null })).toEqual({
    count: '1',
    roundTrips: '1',
    lines: [],
  })
})

test('a lost canary is counted and logged, and has no round trip', async () => {
  expect(await reported({ outcome: 'timeout', seconds: 10, problem: 'no answer' })).toEqual({
    count: '1',
    roundTrips: '0',
    lines: [{ event: 'canary_webhook_lost', outcome: 'timeout', problem: 'no answer' }],
  })
})
