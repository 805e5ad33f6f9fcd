import { noBounds, type Panel, type Row, redFrom } from '../build/panel.ts'
import { grownBy, quantile } from '../build/promql.ts'

const docs = 'canary.md#what-it-tells'

const webhookAge: Panel = {
  title: 'Canary webhook: age of the last',
  kind: 'timeseries',
  description:
    'Since a webhook of our own last came in through the public address, as a share of how old that may become. From 1 on, the alert. Nothing is shown where none are sent.',
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
  description:
    'Webhooks that were sent to the public address by depositd itself, by how they ended: only received is well.',
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
  description: 'From sending such a webhook to the answer, through all that stands before the intake.',
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

const depositAge: Panel = {
  title: 'Canary deposits: age of the last',
  kind: 'timeseries',
  description:
    'Since a deposit of our own was last reconciled, as a share of how old that may become, by network. From 1 on, the alert. Nothing is shown where none are made.',
  runbook: 'depositdcanarydepositlate',
  docs,
  unit: 'percentunit',
  queries: [
    {
      expr: 'max by (network) (depositd_canary_deposit_age_seconds{network=~"$network"}) / max by (network) (depositd_canary_deposit_limit_seconds{network=~"$network"})',
      legend: '{{network}}',
    },
  ],
  thresholds: redFrom(1),
  width: 8,
  height: 8,
}

const deposits: Panel = {
  title: 'Canary deposits within a day',
  kind: 'timeseries',
  description: 'Deposits of our own, by how they ended: only reconciled is well.',
  runbook: 'depositdcanarydepositlate',
  docs,
  unit: 'short',
  queries: [
    {
      expr: 'sum by (network, outcome) (increase(depositd_canary_deposits_total{network=~"$network"}[24h]))',
      legend: '{{network}}: {{outcome}}',
    },
  ],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

const taken = 'depositd_canary_deposit_seconds'

const way: Panel = {
  title: 'Canary deposits: the whole way',
  kind: 'timeseries',
  description:
    'From the payment of such a deposit to the agreement of all sources, on average over a day: they are too few for quantiles.',
  runbook: 'depositdcanarydepositlate',
  docs,
  unit: 's',
  queries: [
    {
      expr: `sum by (network) ${grownBy(`${taken}_sum{network=~"$network"}`, '24h')} / (sum by (network) ${grownBy(`${taken}_count{network=~"$network"}`, '24h')} > 0)`,
      legend: '{{network}}',
    },
  ],
  thresholds: redFrom(7200),
  width: 8,
  height: 8,
}

export const canaryRow: Row = {
  title: 'Canaries, where they are set',
  panels: [webhookAge, webhooks, roundTrip, depositAge, deposits, way],
}
