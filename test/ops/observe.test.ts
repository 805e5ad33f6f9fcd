import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createMetrics } from '../../src/ops/metrics.ts'
import { createObserver, type MismatchTransition } from '../../src/ops/observe.ts'

test.each<[MismatchTransition['change'], string]>([
  ['opened', 'depositd_mismatches_opened_total{kind="unreported",severity="severe",network="base"} 1'],
  ['reopened', 'depositd_mismatches_opened_total{kind="unreported",severity="severe",network="base"} 1'],
  ['resolved', 'depositd_mismatches_resolved_total{kind="unreported",how="person"} 1'],
  ['cleared', 'depositd_mismatches_resolved_total{kind="unreported",how="evidence"} 1'],
])('a mismatch that is %s is counted', async (change, line) => {
  const metrics = createMetrics('test')
  createObserver(metrics, pino({ level: 'silent' })).mismatches([
    { kind: 'unreported', severity: 'severe', network: 'base', change },
  ])
  const text = await metrics.registry.metrics()
  const counted = /^depositd_mismatches_(opened|resolved)_total.* [^0]/
  expect(text.split('\n').filter((one) => counted.test(one))).toEqual([line])
})
