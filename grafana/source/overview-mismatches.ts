import type { Row } from './panel.ts'

/** Gauges come from the database and are the same in every replica: the greatest is the value, a sum is not. */
const openMismatches = 'max by (kind, severity, network) (depositd_mismatches_open{network=~"$network"})'

export const mismatchRow: Row = {
  title: 'What is wrong',
  panels: [
    {
      title: 'Open mismatches by severity',
      kind: 'timeseries',
      description: 'Severe ones page someone; warnings may clear by themselves when evidence arrives.',
      unit: 'short',
      queries: [{ expr: `sum by (severity) (${openMismatches})`, legend: '{{severity}}' }],
      width: 8,
      height: 8,
    },
    {
      title: 'Open mismatches by kind, with age',
      kind: 'table',
      description:
        'How many of each kind and how old the oldest is (over all networks). Each kind has a section in docs/runbook.md.',
      unit: 'short',
      queries: [
        { expr: `sum by (kind, severity) (${openMismatches})`, legend: 'open' },
        { expr: 'max by (kind, severity) (depositd_mismatch_oldest_seconds)', legend: 'oldest' },
      ],
      columns: { open: 'short', oldest: 's' },
      width: 8,
      height: 8,
    },
    {
      title: 'Mismatches opened and resolved within an hour',
      kind: 'timeseries',
      description: 'A kind that opens faster than it resolves is a fault of one side, not a single accident.',
      unit: 'short',
      queries: [
        {
          expr: 'sum by (kind) (increase(depositd_mismatches_opened_total{network=~"$network"}[1h]))',
          legend: '{{kind}} opened',
        },
        {
          expr: 'sum by (kind) (increase(depositd_mismatches_resolved_total[1h]))',
          legend: '{{kind}} resolved',
        },
      ],
      width: 8,
      height: 8,
    },
  ],
}

export const lagRow: Row = {
  title: 'How late',
  panels: [
    {
      title: 'Oldest open per stage',
      kind: 'timeseries',
      description:
        'How long the oldest deposit has waited for each stage. What is stuck shows here and not in the quantiles.',
      unit: 's',
      queries: [
        {
          expr: 'max by (stage) (depositd_stage_oldest_open_seconds{network=~"$network"})',
          legend: '{{stage}}',
        },
      ],
      thresholds: [
        { from: null, color: 'green' },
        { from: 3600, color: 'orange' },
        { from: 7200, color: 'red' },
      ],
      width: 8,
      height: 8,
    },
    ...([50, 95] as const).map((percent) => ({
      title: `Stage lag, p${percent}`,
      kind: 'timeseries' as const,
      description: `What ${percent} of 100 completed stages took at most, over the last hour. Finality is the chain's own time.`,
      unit: 's',
      queries: [
        {
          expr: `histogram_quantile(${percent / 100}, sum by (le, stage) (rate(depositd_stage_lag_seconds_bucket{network=~"$network"}[1h])))`,
          legend: '{{stage}}',
        },
      ],
      width: 8,
      height: 8,
    })),
  ],
}
