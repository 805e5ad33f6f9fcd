import { betterFrom, noBounds, type Panel, type PromQuery, type Row } from '../build/panel.ts'

const fill: Panel = {
  title: 'Matrix: what agrees',
  kind: 'bargauge',
  description:
    'Of the last 24 hours of deposits, the share of which each source agrees about each leg, where it can say anything. What is under way does not agree yet.',
  runbook: 'depositdreconciliationoverdue',
  docs: 'policy.md#what-must-agree',
  unit: 'percentunit',
  queries: [
    {
      expr: `sum by (leg, source) (max by (service, leg, source, cell) (depositd_matrix_cells{service=~"$service",cell="agrees"})) / (sum by (leg, source) (max by (service, leg, source, cell) (depositd_matrix_cells{service=~"$service",cell!="not_applicable"})) > 0)`,
      legend: '{{leg}}: {{source}}',
    },
  ],
  thresholds: betterFrom(0.9, 0.99),
  width: 8,
  height: 8,
}

const cells = ['agrees', 'present', 'absent', 'differs', 'not_applicable'] as const

const counts: Panel = {
  title: 'Matrix: how many',
  kind: 'table',
  description:
    'Of the last 24 hours of deposits: agrees; present: what would prove or refute it is still missing; absent: the source has not said it; differs: it says otherwise.',
  runbook: 'amount_mismatch',
  docs: 'evidence.md#why',
  unit: 'short',
  queries: countsOf(cells),
  thresholds: [
    { from: null, color: 'green' },
    { from: 1, color: 'red' },
  ],
  columns: Object.fromEntries(cells.map((cell) => [cell, 'short' as const])),
  colored: ['differs'],
  width: 8,
  height: 8,
}

/** A row for each leg and source, a column for each cell. */
function countsOf([first, ...others]: typeof cells): readonly [PromQuery, ...PromQuery[]] {
  return [countOf(first), ...others.map(countOf)]
}

function countOf(cell: string): PromQuery {
  const all = 'max by (leg, source) (depositd_matrix_cells{service=~"$service"})'
  const ofServices = `max by (service, leg, source) (depositd_matrix_cells{service=~"$service",cell="${cell}"})`
  return { expr: `sum by (leg, source) (${ofServices}) or 0 * ${all}`, legend: cell }
}

const overTime: Panel = {
  title: 'Matrix: what does not agree',
  kind: 'timeseries',
  description:
    'Cells of the last 24 hours of deposits that are not there, or differ. A source that falls silent grows here before anything is overdue.',
  runbook: 'webhook_missing',
  docs: 'policy.md#what-must-agree',
  unit: 'short',
  queries: [
    { ...countOf('absent'), legend: '{{leg}}: {{source}} absent' },
    { ...countOf('differs'), legend: '{{leg}}: {{source}} differs' },
  ],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

export const matrixRow: Row = { title: 'Three sources, two legs', panels: [fill, counts, overTime] }
