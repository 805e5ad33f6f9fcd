import { noBounds, type Panel, type Row, redFrom } from '../build/panel.ts'
import { quantile } from '../build/promql.ts'

const docs = 'canary.md#metrics'

const webhookAge: Panel = {
  title: 'Canary webhook: age of the last',
  kind: 'timeseries',
  description:
    'Time since the last canary arrived through the public address, as a share of the limit. At 1 the alert fires. Empty if the canary is off.',
  runbook: 'depositdcanarywebhooklost',
  docs,
  unit: 'percentunit',
  queries: [
    {
      expr: 'max(depositd_canary_webhook_age_seconds) / max(depositd_canary_webhook_limit_seconds)',
      legend: 'webhook',
    },
  ],
  thresholds: redFrom(1),
  width: 8,
  height: 8,
}

const webhooks: Panel = {
  title: 'Canary webhooks within an hour',
  kind: 'timeseries',
  description: 'Webhooks that depositd sent to its own public address, by outcome. Only received is good.',
  runbook: 'depositdcanarywebhooklost',
  docs,
  unit: 'short',
  queries: [
    { expr: 'sum by (outcome) (increase(depositd_canary_webhooks_total[1h]))', legend: '{{outcome}}' },
  ],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

const roundTrip: Panel = {
  title: 'Canary webhook: round trip, p95',
  kind: 'timeseries',
  description: 'From sending a canary to its answer, through the whole network path before the intake.',
  runbook: 'depositdcanarywebhooklost',
  docs,
  unit: 's',
  queries: [
    {
      expr: quantile(0.95, { of: 'depositd_canary_webhook_seconds_bucket', by: '', over: '1h' }),
      legend: 'p95',
    },
  ],
  thresholds: redFrom(5),
  width: 8,
  height: 8,
}

export const canaryRow: Row = {
  title: 'Canary, if the settings have one',
  panels: [webhookAge, webhooks, roundTrip],
}
