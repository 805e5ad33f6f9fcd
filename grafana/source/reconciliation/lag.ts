import { type Panel, type Row, worseFrom } from '../build/panel.ts'
import { quantile } from '../build/promql.ts'
import { oldestOpenPanel } from '../build/shared.ts'

const settlement: Panel = {
  title: 'Final to delivered, p95',
  kind: 'timeseries',
  description:
    "From a final payment to its proved delivery, over the last hour: the service's own time. Dots are single deposits.",
  runbook: 'depositdsettlementoverdue',
  docs: 'policy.md#what-must-agree',
  unit: 's',
  queries: [
    {
      expr: quantile(0.95, {
        of: 'depositd_stage_lag_seconds_bucket{stage="settlement",service=~"$service",network=~"$network"}',
        by: 'network',
        over: '1h',
      }),
      legend: '{{network}}',
      exemplars: true,
    },
  ],
  thresholds: worseFrom(1800, 3600),
  width: 6,
  height: 8,
}

const reconciliation: Panel = {
  title: 'Payment to reconciled, p95',
  kind: 'timeseries',
  description:
    'From the block of a payment to the moment all required sources agreed, over the last hour. Dots are single deposits.',
  runbook: 'depositdreconciliationoverdue',
  docs: 'metrics.md#stages',
  unit: 's',
  queries: [
    {
      expr: quantile(0.95, {
        of: 'depositd_stage_lag_seconds_bucket{stage="reconciliation",service=~"$service",network=~"$network"}',
        by: 'network',
        over: '1h',
      }),
      legend: '{{network}}',
      exemplars: true,
    },
  ],
  thresholds: worseFrom(3600, 7200),
  width: 6,
  height: 8,
}

const slo: Panel = {
  title: 'Slow deposits, by objective',
  kind: 'timeseries',
  description:
    'Share of the deposits of the last hour, and of the last day, that were slower than their objective allows. Dashed: the budget of one in a hundred.',
  runbook: 'depositdreconciliationfastburn',
  docs: 'slo.md#two-objectives',
  unit: 'percentunit',
  queries: [
    { expr: 'max by (slo) (depositd:slo_slow:ratio_rate1h{service=~"$service"})', legend: '{{slo}}, hour' },
    { expr: 'max by (slo) (depositd:slo_slow:ratio_rate1d{service=~"$service"})', legend: '{{slo}}, day' },
  ],
  thresholds: worseFrom(0.01, 0.144),
  width: 6,
  height: 8,
}

export const lagRow: Row = {
  title: 'How late',
  panels: [{ ...oldestOpenPanel, width: 6 }, settlement, reconciliation, slo],
}
