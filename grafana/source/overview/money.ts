import { leastAmount, noBounds, type Panel, type Row, redFrom, worseFrom } from '../build/panel.ts'
import { chosenAndUnbooked, zeroWhenRead } from '../build/promql.ts'
import { atRiskPanel, booksPanel, inTransitPanel, severePanel } from '../build/shared.ts'

const oldestSevere: Panel = {
  title: 'Oldest severe mismatch',
  kind: 'stat',
  description: 'Age of the severe mismatch that is open the longest, over all networks.',
  runbook: 'depositdseveremismatch',
  docs: 'case-work.md#working',
  unit: 's',
  queries: [
    {
      expr: `max(depositd_mismatch_oldest_seconds{severity="severe",service=~"$service"}) ${zeroWhenRead('live')}`,
      legend: 'oldest',
    },
  ],
  thresholds: worseFrom(1, 3600),
  width: 4,
  height: 4,
}

const oldestDeposit: Panel = {
  title: 'Oldest deposit not reconciled',
  kind: 'stat',
  description: 'Since its payment was made. Red from two hours on, as the alert.',
  runbook: 'depositdreconciliationoverdue',
  docs: 'metrics.md#stages',
  unit: 's',
  queries: [
    {
      expr: `max(depositd_stage_oldest_open_seconds{stage="reconciliation",service=~"$service",network=~"$network"}) ${zeroWhenRead('live')}`,
      legend: 'oldest',
    },
  ],
  thresholds: worseFrom(3600, 7200),
  width: 4,
  height: 4,
}

const underWay: Panel = {
  title: 'Deposits under way',
  kind: 'stat',
  description: 'Deposits that are neither reconciled nor ended. Look at their age, not at their number.',
  runbook: 'first-looks',
  docs: 'metrics.md#stages',
  unit: 'short',
  queries: [
    {
      expr: `sum(max by (state, service, network) (depositd_deposits{state=~"observed|confirmed|settling|settled",service=~"$service",network=~"$network"})) ${zeroWhenRead('totals')}`,
      legend: 'under way',
    },
  ],
  thresholds: noBounds,
  width: 4,
  height: 4,
}

const daemons: Panel = {
  title: 'Daemons answering',
  kind: 'stat',
  description: 'Daemons whose metrics were read. At zero, nothing else here is true.',
  runbook: 'depositdabsent',
  unit: 'short',
  queries: [{ expr: 'count(depositd_build_info) or vector(0)', legend: 'daemons' }],
  thresholds: [
    { from: null, color: 'red' },
    { from: 1, color: 'green' },
  ],
  width: 4,
  height: 4,
}

const byState: Panel = {
  title: 'Deposits by state',
  kind: 'timeseries',
  description:
    'All deposits as the evidence stands. What does not move on to reconciled has a mismatch or an age.',
  runbook: 'first-looks',
  docs: 'metrics.md#all-metrics',
  unit: 'short',
  queries: [
    {
      expr: 'sum by (state) (max by (state, service, network) (depositd_deposits{service=~"$service",network=~"$network"}))',
      legend: '{{state}}',
    },
  ],
  thresholds: noBounds,
  stacked: true,
  width: 8,
  height: 8,
}

const unexplained: Panel = {
  title: 'Balances that are not explained',
  kind: 'table',
  description:
    'What deposit addresses hold beyond, or short of, all transfers that are known, in units of each asset; approximate.',
  runbook: 'unexplained_balance',
  docs: 'chains.md#what-counts-as-proved',
  unit: 'locale',
  queries: [{ expr: chosenAndUnbooked('max by (asset) (depositd_unexplained_balance)'), legend: 'value' }],
  thresholds: redFrom(leastAmount),
  columns: { value: 'locale' },
  colored: ['value'],
  width: 12,
  height: 6,
}

const untied: Panel = {
  title: 'Books that do not tie',
  kind: 'table',
  description:
    'What the last audit found left in transit of closed deposits (in_transit), or not agreeing with proved balances (tie_out), in units of each asset; approximate.',
  runbook: 'depositdledgeruntied',
  docs: 'accounting.md#control-totals',
  unit: 'locale',
  queries: [{ expr: chosenAndUnbooked('max by (control, asset) (depositd_ledger_untied)'), legend: 'value' }],
  thresholds: redFrom(leastAmount),
  columns: { value: 'locale' },
  colored: ['value'],
  width: 12,
  height: 6,
}

export const moneyRow: Row = {
  title: 'Is money where it should be?',
  panels: [
    booksPanel,
    severePanel,
    oldestSevere,
    oldestDeposit,
    underWay,
    daemons,
    byState,
    inTransitPanel,
    atRiskPanel,
    unexplained,
    untied,
  ],
}
