import { expect, test } from 'vitest'
import { createMetrics } from '../../src/ops/metrics.ts'
import { observeCanaries } from '../../src/ops/observe-canary.ts'
import { showCanaries } from '../../src/ops/show-canaries.ts'

function watched() {
  const metrics = createMetrics('1', { network: ['base'] })
  const lines: object[] = []
  const write = (fields: object) => void lines.push(fields)
  const log = { debug: write, info: write, warn: write, error: write }
  const shown = async (name: string) =>
    (await metrics.registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith(`depositd_canary_${name}`))
  return { metrics, lines, observer: observeCanaries(metrics, log), shown }
}

test('what is well is counted and measured, and nothing is said', async () => {
  const { observer, lines, shown } = watched()
  observer.webhook({ outcome: 'received', seconds: 0.2, problem: null })
  observer.deposit({ network: 'base', outcome: 'reconciled', seconds: 90, problem: null })
  expect(await shown('webhook_seconds_count')).toEqual(['depositd_canary_webhook_seconds_count 1'])
  expect(await shown('webhooks_total{outcome="received"}')).toEqual([
    'depositd_canary_webhooks_total{outcome="received"} 1',
  ])
  expect(await shown('deposit_seconds_sum')).toEqual([
    'depositd_canary_deposit_seconds_sum{network="base"} 90',
  ])
  expect(lines).toEqual([])
})

test('what is lost or late is counted and said, and a lost webhook has no round trip', async () => {
  const { observer, lines, shown } = watched()
  observer.webhook({ outcome: 'timeout', seconds: 10, problem: 'no answer' })
  observer.deposit({ network: 'base', outcome: 'late', seconds: null, problem: null })
  expect(await shown('webhook_seconds_count')).toEqual(['depositd_canary_webhook_seconds_count 0'])
  expect(await shown('deposits_total{network="base",outcome="late"}')).toEqual([
    'depositd_canary_deposits_total{network="base",outcome="late"} 1',
  ])
  expect(lines).toEqual([
    { event: 'canary_webhook_lost', outcome: 'timeout', problem: 'no answer' },
    { event: 'canary_deposit_failed', network: 'base', outcome: 'late', problem: null },
  ])
})

test('one that was late and is reconciled after all is measured, and neither counted nor said again', async () => {
  const { observer, lines, shown } = watched()
  observer.deposit({ network: 'base', outcome: null, seconds: 9000, problem: null })
  expect(await shown('deposit_seconds_sum')).toEqual([
    'depositd_canary_deposit_seconds_sum{network="base"} 9000',
  ])
  const counted = await shown('deposits_total')
  expect(counted.filter((line) => !line.endsWith(' 0'))).toEqual([])
  expect(lines).toEqual([])
})

test('ages are shown beside their limits, and left out once a canary is off', async () => {
  const { metrics, shown } = watched()
  showCanaries(metrics, [
    { network: null, age: 3, limit: 190 },
    { network: 'base', age: 60, limit: 28_860 },
  ])
  expect(await shown('webhook_age')).toEqual(['depositd_canary_webhook_age_seconds 3'])
  expect(await shown('webhook_limit')).toEqual(['depositd_canary_webhook_limit_seconds 190'])
  expect(await shown('deposit_age')).toEqual(['depositd_canary_deposit_age_seconds{network="base"} 60'])
  expect(await shown('deposit_limit')).toEqual([
    'depositd_canary_deposit_limit_seconds{network="base"} 28860',
  ])
  showCanaries(metrics, [{ network: null, age: null, limit: 190 }])
  expect(await shown('webhook_age')).toEqual([])
  expect(await shown('webhook_limit')).toEqual(['depositd_canary_webhook_limit_seconds 190'])
  showCanaries(metrics, [])
  expect(await shown('webhook_limit')).toEqual([])
  expect(await shown('deposit_limit')).toEqual([])
})
