import { betterFrom, noBounds, type Panel, type Row, worseFrom } from '../build/panel.ts'

const reported: Panel = {
  title: 'Steps that webhooks told of',
  kind: 'timeseries',
  description:
    'Of the steps of the last 24 hours that the API or a chain knows, the share of which a webhook told.',
  runbook: 'webhook_missing',
  docs: 'mismatches.md#webhook_missing',
  unit: 'percentunit',
  queries: [
    {
      expr: 'min by (service, route) (depositd_scorecard_completeness_ratio{service=~"$service"})',
      legend: '{{service}}: {{route}}',
    },
  ],
  thresholds: betterFrom(0.95, 0.999),
  width: 6,
  height: 8,
}

const delivery: Panel = {
  title: 'Webhook lag',
  kind: 'timeseries',
  description: 'From an event to its webhook, over the deposits of the last 24 hours, of each whole service.',
  runbook: 'depositddeliveryoverdue',
  docs: 'metrics.md#stages',
  unit: 's',
  queries: [
    {
      expr: 'max by (service, percentile) (depositd_scorecard_delivery_seconds{service=~"$service",route="all"})',
      legend: '{{service}}: {{percentile}}',
    },
  ],
  thresholds: worseFrom(60, 900),
  width: 6,
  height: 8,
}

const settle: Panel = {
  title: 'Time to settle',
  kind: 'timeseries',
  description:
    'From a final payment to its proved delivery, over the deposits of the last 24 hours: half are faster.',
  runbook: 'depositdsettlementoverdue',
  docs: 'policy.md#routes',
  unit: 's',
  queries: [
    {
      expr: 'max by (service, route) (depositd_scorecard_settle_seconds{service=~"$service",percentile="p50"})',
      legend: '{{service}}: {{route}}',
    },
  ],
  thresholds: worseFrom(1800, 3600),
  width: 6,
  height: 8,
}

const fees: Panel = {
  title: 'Effective fee, and repeated webhooks',
  kind: 'table',
  description:
    'By route, over the deposits of the last 24 hours: the stated fee as a share of what was delivered and the fee, and how often a webhook came again.',
  runbook: 'fee_out_of_band',
  docs: 'policy.md#fees',
  unit: 'none',
  queries: [
    { expr: 'max by (service, route) (depositd_scorecard_fee_ratio{service=~"$service"})', legend: 'fee' },
    {
      expr: 'max by (service, route) (depositd_scorecard_duplicates_ratio{service=~"$service"})',
      legend: 'repeats',
    },
  ],
  thresholds: noBounds,
  columns: { fee: 'percentunit', repeats: 'percentunit' },
  width: 6,
  height: 8,
}

export const scorecardRow: Row = { title: 'How the service does', panels: [reported, delivery, settle, fees] }
