import { spawnSync } from 'node:child_process'
import { pino } from 'pino'
import { Gauge, type Metric } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MetricDescription } from '../../src/ops/metrics/declare.ts'
import { createMetrics, metricDescriptions } from '../../src/ops/metrics.ts'
import { createObserver } from '../../src/ops/observe.ts'
import { type OpsServer, startOps } from '../../src/ops/server.ts'
import { type Prometheus, prometheusInstalled, startPrometheus } from '../support/prometheus.ts'
import { promtoolInstalled } from '../support/promtool.ts'
import { until } from '../support/until.ts'

const hostile = 'a"b\\c\nd}{ 1\n# EOF'

/** promtool looks at labels only of series that are there. */
function showOnce(metric: Metric | undefined, values: MetricDescription['values']): void {
  const labels = Object.entries(values).map(([label, allowed]) => [
    label,
    'set' in allowed ? 'a' : allowed[0],
  ])
  if (metric instanceof Gauge) metric.set(Object.fromEntries(labels), 1)
}

let ops: OpsServer
let prometheus: Prometheus | null = null

beforeAll(async () => {
  const metrics = createMetrics('1.2.3', { service: ['default'], network: ['base'] })
  const observer = createObserver(metrics, pino({ level: 'silent' }))
  observer.webhook({ service: 'default', outcome: 'stored', seconds: 0.02, event: hostile })
  metrics.stageLag.observe({ stage: 'finality', service: 'default', network: 'base' }, 700, {
    deposit_id: '42',
  })
  metrics.rpcRequests.inc({ network: hostile, method: hostile, outcome: 'ok' })
  ops = await startOps({ host: '127.0.0.1', port: 0, metrics })
  if (!prometheusInstalled()) return
  const target = JSON.stringify([new URL(ops.url).host])
  prometheus = await startPrometheus(`
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs: [{ job_name: depositd, static_configs: [{ targets: ${target} }] }]
`)
}, 30_000)

afterAll(async () => {
  await prometheus?.stop()
  await ops.stop()
})

test.skipIf(!prometheusInstalled())(
  'Prometheus takes what is told as OpenMetrics, hostile labels and exemplars included',
  async () => {
    if (prometheus === null) throw new Error('it is started')
    const { query, exemplars } = prometheus
    const found = await until('a scrape', async () => {
      const series = await query('depositd_rpc_requests_total')
      return series.length > 0 ? series : null
    })
    expect(found[0]?.labels).toMatchObject({ network: hostile, method: hostile, outcome: 'ok' })
    expect((await query('up'))[0]?.samples[0]?.[1]).toBe(1)
    const now = Date.now() / 1000
    const kept = await exemplars('{__name__=~"depositd_.*_bucket"}', { start: now - 600, end: now + 60 })
    const labels = kept.flatMap((one) => one.exemplars.map((exemplar) => exemplar.labels))
    // This Prometheus keeps them as they were escaped.
    const webhook = expect.stringMatching(/^a.*EOF$/s)
    expect(labels).toEqual(expect.arrayContaining([{ deposit_id: '42' }, { webhook }]))
  },
)

test.skipIf(!promtoolInstalled())(
  'promtool finds nothing to improve in any metric, those of Node included',
  async () => {
    const { registry } = createMetrics('1.2.3', { service: ['default'], network: ['base'] })
    for (const { name, values } of metricDescriptions) showOnce(registry.getSingleMetric(name), values)
    const input = await registry.metrics()
    const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
    expect(stdout + stderr).toBe('')
  },
)
