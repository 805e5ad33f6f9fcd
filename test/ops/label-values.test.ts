import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { ServiceName } from '../../src/core/evidence.ts'
import type { Severity } from '../../src/core/mismatch.ts'
import { assets, createAdmission, networks, other, routes } from '../../src/ops/metrics/declare.ts'
import { busiest } from '../../src/ops/metrics/deposits.ts'
import { createMetrics, metricDescriptions } from '../../src/ops/metrics.ts'
import { createObserver } from '../../src/ops/observe.ts'
import { showGauges } from '../../src/ops/serve-metrics.ts'
import { readingOf } from '../support/readings.ts'

const known = { service: ['default', 'acme'], network: ['base', 'solana'], asset: ['base/0x1'] }
const many = Array.from({ length: 1000 }, (_each, number) => `stranger${number}\n"}`)

const scores = {
  completeness: '1',
  duplicates_share: '0',
  delivery_p50_seconds: 1,
  delivery_p95_seconds: 1,
  delivery_p99_seconds: 1,
  settle_p50_seconds: 1,
  settle_p95_seconds: 1,
  settle_p99_seconds: 1,
  fee_share: '0',
}

async function seriesOf(metrics: ReturnType<typeof createMetrics>): Promise<string[]> {
  const text = await metrics.registry.metrics()
  return text.split('\n').filter((line) => line.startsWith('depositd_'))
}

/** Everything that is sent to us or read from others, as a thousand strangers would have it. */
function attack(metrics: ReturnType<typeof createMetrics>): void {
  const observer = createObserver(metrics, pino({ level: 'silent' }))
  for (const text of many) {
    observer.webhook({ service: text, outcome: text, seconds: 1, event: text })
    observer.rpc({ network: text, node: text, method: text, outcome: text, seconds: 1 })
    observer.rpcNode({ network: text, node: text, score: 1 })
    observer.oddLog({ network: text, reason: text, contract: text, tx: text })
    observer.pollRequest(text, text)
    observer.rewound(text)
    observer.queueTrouble({ kind: 'job_failed', wake: { name: text } })
    observer.mismatches([
      {
        kind: text,
        severity: text as Severity,
        service: text as ServiceName,
        network: text,
        change: 'opened',
      },
    ])
    metrics.stageLag.observe({ stage: text, service: text, network: text }, 1)
  }
  const reading = readingOf({
    stages: many.map((text) => ({ stage: text, service: text, network: text, oldest: 1, unnamed: 1 })),
    mismatches: many.map((text) => ({
      kind: text,
      severity: text,
      service: text,
      network: text,
      age: text,
      count: 1,
      oldest: 1,
    })),
    atRisk: many.map((text) => ({ service: text, asset: text, severity: text, units: 1 })),
    untied: many.map((text) => ({ control: text, asset: text, units: 1 })),
    unexplained: many.map((text) => ({ network: text, asset: text, units: 1 })),
    streams: many.map((text) => ({ name: `scan/${text}`, age: 1, progress: {} })),
    deposits: many.map((text) => ({ state: text, service: text, network: text, count: 1 })),
    matrix: many.map((text) => ({ service: text, leg: text, source: text, cell: text, count: 1 })),
    assets: many.map((text) => ({ asset: text, network: text, symbol: text })),
    balances: many.map((text) => ({ account: text, network: text, asset: text, units: 1 })),
    imbalances: many.map((text) => ({ asset: text, units: 1 })),
    coverageGaps: many.map((text) => ({ network: text, ranges: 1, heights: 2 })),
    scorecard: many.map((text) => ({ service: text, route: text, ...scores })),
    queue: Object.fromEntries(many.map((text) => [text, 1])),
  })
  showGauges(metrics, reading)
}

test('a thousand strangers in every label make a bounded number of series, and no more the next day', async () => {
  const metrics = createMetrics('test', known)
  attack(metrics)
  const first = (await seriesOf(metrics)).length
  attack(metrics)
  expect((await seriesOf(metrics)).length).toBe(first)
  // A tenth of what a Prometheus takes from one target without a thought.
  expect(first).toBeLessThan(5000)
})

test('unknown networks beyond the limit are combined as other, and those of the settings stay themselves', async () => {
  const metrics = createMetrics('test', known)
  attack(metrics)
  const strangers = many.map((network, oldest) => ({ network, oldest }))
  showGauges(
    metrics,
    readingOf({
      deposits: [
        ...strangers.map(({ network }) => ({ state: 'settled', service: 'default', network, count: 1 })),
        { state: 'settled', service: 'default', network: 'solana', count: 2 },
      ],
      stages: strangers.map((one) => ({ stage: 'finality', service: 'default', unnamed: null, ...one })),
    }),
  )
  const lines = await seriesOf(metrics)
  expect(lines.filter((line) => line.startsWith('depositd_deposits{'))).toHaveLength(networks.upTo)
  expect(lines).toEqual(
    expect.arrayContaining([
      'depositd_deposits{state="settled",service="default",network="solana"} 2',
      'depositd_deposits{state="settled",service="default",network="other"} 970',
      'depositd_stage_oldest_open_seconds{stage="finality",service="default",network="other"} 999',
      'depositd_webhook_requests_total{service="other",outcome="other"} 986',
    ]),
  )
})

test('routes are told apart anew each time, so that those of long ago keep no place', async () => {
  const metrics = createMetrics('test', known)
  attack(metrics)
  showGauges(
    metrics,
    readingOf({ scorecard: [{ service: 'acme', route: 'USDC on base to USDC on arbitrum', ...scores }] }),
  )
  const reported = (await seriesOf(metrics)).filter((line) => line.includes('scorecard_completeness'))
  expect(reported).toEqual([
    'depositd_scorecard_completeness_ratio{service="acme",route="USDC on base to USDC on arbitrum"} 1',
  ])
})

test('of too many routes those of most deposits are told apart, the same ones whoever asks', () => {
  const lines = many.map((route, number) => ({ service: 'acme', route, deposits: BigInt(number % 500) }))
  const reported = busiest([...lines, { service: 'acme', route: 'all', deposits: 124_750n }])
  expect(reported).toHaveLength(routes.upTo)
  expect(reported[0]?.route).toBe('all')
  expect(Math.min(...reported.map(({ deposits }) => Number(deposits)))).toBe(468)
  expect(busiest([{ service: 'acme', route: 'all', deposits: 124_750n }, ...lines.toReversed()])).toEqual(
    reported,
  )
})

test('an open set takes so many values and no long one, whatever comes first', () => {
  const admit = createAdmission(known)
  expect(admit(assets, 'x'.repeat(121))).toBe(other)
  expect(new Set(many.map((text) => admit(networks, text)))).toHaveLength(
    networks.upTo - known.network.length + 1,
  )
  expect(known.network.map((name) => admit(networks, name))).toEqual(known.network)
  expect(admit(networks, '')).toBe('')
})

test('counters whose labels are known start at 0, so that their first event is an increase', async () => {
  const lines = await seriesOf(createMetrics('test', known))
  expect(lines).toEqual(
    expect.arrayContaining([
      'depositd_chain_reorgs_total{network="base"} 0',
      'depositd_chain_reorgs_total{network="solana"} 0',
      'depositd_webhook_requests_total{service="acme",outcome="unavailable"} 0',
      'depositd_job_failures_total{name="seal"} 0',
      'depositd_poll_requests_total{service="acme",outcome="failed"} 0',
      'depositd_settings_changes_total{outcome="refused"} 0',
    ]),
  )
})

test('every label is declared with its values, and every name with its unit', () => {
  for (const { name, type, unit, labels, values } of metricDescriptions) {
    expect(Object.keys(values)).toEqual(labels)
    expect(unit === 'seconds').toBe(name.endsWith('_seconds'))
    expect(unit === 'ratio' || !name.endsWith('_ratio')).toBe(true)
    expect(type === 'counter').toBe(name.endsWith('_total'))
  }
})
