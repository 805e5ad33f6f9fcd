import { noBounds, type Panel, type PromQuery, redFrom, worseFrom } from './panel.ts'
import { assetLegend, balanceOf, chosenAndUnbooked, chosenAssets, quantile, zeroWhenRead } from './promql.ts'

/** Gauges come from the database and are the same in every replica: the greatest is the value, a sum is not. */
export const openMismatches =
  'max by (kind, severity, service, network) (depositd_mismatches_open{service=~"$service",network=~"$network"})'

/** Whether all entries of each asset sum to zero. */
export const booksPanel: Panel = {
  title: 'Books',
  kind: 'stat',
  description: 'Sum of all entries per asset, the worst of them. Anything but zero is an emergency.',
  runbook: 'depositdledgerimbalance',
  docs: 'accounting.md#control-totals',
  unit: 'none',
  queries: [{ expr: `max(abs(depositd_ledger_imbalance)) ${zeroWhenRead('totals')}`, legend: 'imbalance' }],
  thresholds: [{ from: null, color: 'red' }],
  words: { '0': { text: 'balanced', color: 'green' } },
  width: 4,
  height: 4,
}

export const severePanel: Panel = {
  title: 'Severe mismatches open',
  kind: 'stat',
  description:
    'Each is money that may not be where it should be; "bin/depositd mismatches list" names them. Of the chosen networks, and of none.',
  runbook: 'depositdseveremismatch',
  docs: 'mismatches.md#severities',
  unit: 'short',
  queries: [
    {
      expr: `sum(max by (kind, service, network) (depositd_mismatches_open{severity="severe",service=~"$service",network=~"$network"})) ${zeroWhenRead('live')}`,
      legend: 'open',
    },
  ],
  thresholds: [
    { from: null, color: 'green' },
    { from: 1, color: 'red' },
  ],
  width: 4,
  height: 4,
}

/** What is paid in finally and not delivered yet. */
export const inTransitPanel: Panel = {
  title: 'Value in transit',
  kind: 'timeseries',
  description:
    'What is final at deposit addresses and not delivered yet, by the books, in units of each asset; approximate, and never added up over assets. What stays is stuck.',
  runbook: 'depositdsettlementoverdue',
  docs: 'accounting.md#chart-of-accounts',
  unit: 'locale',
  queries: [
    {
      expr: chosenAssets(balanceOf('in_transit')),
      legend: assetLegend,
    },
  ],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

export const atRiskPanel: Panel = {
  title: 'Value at risk',
  kind: 'table',
  description:
    'Value under open mismatches, each transfer once, in units of each asset. Approximate, and never added up over assets; the accounting views are exact.',
  runbook: 'mismatches',
  docs: 'accounting.md#how-long-it-has-been-open-and-what-may-be-lost',
  unit: 'locale',
  queries: [
    {
      expr: chosenAndUnbooked(
        'sum by (asset, severity) (max by (asset, severity, service) (depositd_mismatch_value{service=~"$service"}))',
      ),
      legend: 'value',
    },
  ],
  thresholds: noBounds,
  columns: { value: 'locale' },
  width: 8,
  height: 8,
}

const ages = {
  under_1h: '< 1 h',
  under_24h: '< 24 h',
  under_3d: '< 3 d',
  under_7d: '< 7 d',
  under_30d: '< 30 d',
  older: 'older',
} as const

export const ageingPanel: Panel = {
  title: 'Open mismatches by age',
  kind: 'table',
  description:
    'How long what is open has been open, each age without those before it. Old warnings are work that nobody does; old severe ones are money that nobody looks for. Of all networks.',
  runbook: 'mismatches',
  docs: 'case-work.md#working',
  unit: 'short',
  queries: ofAges(ages),
  thresholds: redFrom(1),
  columns: Object.fromEntries(Object.values(ages).map((words) => [words, 'short' as const])),
  colored: [ages.under_7d, ages.under_30d, ages.older],
  width: 8,
  height: 8,
}

/** One column for each age, from the youngest to the oldest. */
function ofAges({ under_1h: youngest, ...others }: typeof ages): readonly [PromQuery, ...PromQuery[]] {
  return [ofAge('under_1h', youngest), ...Object.entries(others).map(([age, words]) => ofAge(age, words))]
}

function ofAge(age: string, legend: string): PromQuery {
  return {
    expr: `sum by (severity) (max by (severity, service) (depositd_mismatches_open_by_age{service=~"$service",age="${age}"}))`,
    legend,
  }
}

export const kindsPanel: Panel = {
  title: 'Open mismatches by kind',
  kind: 'table',
  description:
    'How many of each kind are open and how old the oldest is (over all networks). Each kind has a section in the runbook.',
  runbook: 'mismatches',
  docs: 'mismatches.md#kinds',
  unit: 'short',
  queries: [
    { expr: `sum by (kind, severity) (${openMismatches}) > 0`, legend: 'open' },
    {
      expr: 'max by (kind, severity) (depositd_mismatch_oldest_seconds{service=~"$service"})',
      legend: 'oldest',
    },
  ],
  thresholds: worseFrom(3600, 86_400),
  columns: { open: 'short', oldest: 's' },
  colored: ['oldest'],
  width: 8,
  height: 8,
}

/** What a stage took, over the last hour. */
export function stageLagPanel(percent: 50 | 95): Panel {
  return {
    title: `Stage lag, p${percent}`,
    kind: 'timeseries',
    description: `What ${percent} of 100 completed stages took at most, over the last hour. Finality is the chain's own time. Dots are single deposits.`,
    runbook: 'depositdreconciliationoverdue',
    docs: 'metrics.md#stages',
    unit: 's',
    queries: [
      {
        expr: quantile(percent / 100, {
          of: 'depositd_stage_lag_seconds_bucket{service=~"$service",network=~"$network"}',
          by: 'stage',
          over: '1h',
        }),
        legend: '{{stage}}',
        ...(percent === 95 && { exemplars: true as const }),
      },
    ],
    thresholds: noBounds,
    width: 8,
    height: 8,
  }
}

/** How long the oldest has waited. */
export const oldestOpenPanel: Panel = {
  title: 'Oldest open per stage',
  kind: 'timeseries',
  description:
    'How long the oldest deposit has waited for each stage. What is stuck shows here and not in the quantiles. Dashed: where settlement and reconciliation are overdue by the default policy.',
  runbook: 'depositdreconciliationoverdue',
  docs: 'metrics.md#stages',
  unit: 's',
  queries: [
    {
      expr: 'max by (stage) (depositd_stage_oldest_open_seconds{service=~"$service|",network=~"$network|"})',
      legend: '{{stage}}',
    },
  ],
  thresholds: worseFrom(3600, 7200),
  width: 8,
  height: 8,
}
