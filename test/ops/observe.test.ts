import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { ServiceName } from '../../src/core/evidence.ts'
import { createMetrics } from '../../src/ops/metrics.ts'
import { createObserver } from '../../src/ops/observe.ts'
import type { MismatchChange } from '../../src/store/mismatches/mismatches.ts'

test.each<[MismatchChange['change'], string]>([
  [
    'opened',
    'depositd_mismatches_opened_total{kind="unreported",severity="severe",service="acme",network="base"} 1',
  ],
  [
    'reopened',
    'depositd_mismatches_opened_total{kind="unreported",severity="severe",service="acme",network="base"} 1',
  ],
  ['resolved', 'depositd_mismatches_resolved_total{kind="unreported",service="acme",how="person"} 1'],
  ['cleared', 'depositd_mismatches_resolved_total{kind="unreported",service="acme",how="evidence"} 1'],
])('a mismatch that is %s is counted', async (change, line) => {
  const metrics = createMetrics('test')
  createObserver(metrics, pino({ level: 'silent' })).mismatches([
    { kind: 'unreported', severity: 'severe', service: 'acme' as ServiceName, network: 'base', change },
  ])
  const text = await metrics.registry.metrics()
  const counted = /^depositd_mismatches_(opened|resolved)_total.* [^0]/
  expect(text.split('\n').filter((one) => counted.test(one))).toEqual([line])
})

test.each([
  [{ outcome: 'received', seconds: 0.2, problem: null }, 1, []],
  [
    { outcome: 'timeout', seconds: 10, problem: 'no answer' },
    0,
    [{ event: 'canary_webhook_lost', outcome: 'timeout', problem: 'no answer' }],
  ],
])('a canary %j is counted, and either timed or logged', async (result, timed, lines) => {
  const logged: object[] = []
  const output = new PassThrough().on('data', (line) => logged.push(JSON.parse(String(line))))
  const metrics = createMetrics('test')
  createObserver(metrics, pino(output)).canary(result)
  const text = await metrics.registry.metrics()
  expect(text).toContain(`depositd_canary_webhooks_total{outcome="${result.outcome}"} 1\n`)
  expect(text).toContain(`depositd_canary_webhook_seconds_count ${timed}\n`)
  expect(logged).toMatchObject(lines)
})
