import { leastAmount, noBounds, type Panel, type Row, redFrom, worseFrom } from '../build/panel.ts'
import { chosenAndUnbooked, chosenAssets, onlyZeroWhenRead, zeroWhenRead } from '../build/promql.ts'
import { booksPanel } from '../build/shared.ts'

const untiedCount: Panel = {
  title: 'Controls that do not tie',
  kind: 'stat',
  description:
    'Assets of which the last audit found something left in transit of closed deposits, or not agreeing with proved balances.',
  runbook: 'depositdledgeruntied',
  docs: 'accounting.md#control-totals',
  unit: 'short',
  queries: [
    {
      expr: `count(max by (control, asset) (depositd_ledger_untied) != 0) ${zeroWhenRead('live')}`,
      legend: 'untied',
    },
  ],
  thresholds: redFrom(1),
  width: 4,
  height: 4,
}

const reported: Panel = {
  title: 'ledger_imbalance open',
  kind: 'stat',
  description: 'What audits found, and nobody has dealt with yet.',
  runbook: 'ledger_imbalance',
  docs: 'mismatches.md#ledger_imbalance',
  unit: 'short',
  queries: [
    {
      expr: `sum(max by (service, network) (depositd_mismatches_open{kind="ledger_imbalance"})) ${zeroWhenRead('live')}`,
      legend: 'open',
    },
  ],
  thresholds: redFrom(1),
  width: 4,
  height: 4,
}

const unexplainedCount: Panel = {
  title: 'Balances not explained',
  kind: 'stat',
  description: 'Assets of which deposit addresses hold more, or less, than all known transfers add up to.',
  runbook: 'unexplained_balance',
  docs: 'chains.md#what-counts-as-proved',
  unit: 'short',
  queries: [
    {
      expr: `count(max by (network, asset) (depositd_unexplained_balance{network=~"$network"}) != 0) ${zeroWhenRead('live')}`,
      legend: 'assets',
    },
  ],
  thresholds: redFrom(1),
  width: 4,
  height: 4,
}

const sealBroken: Panel = {
  title: 'Seals',
  kind: 'stat',
  description:
    'Seals that no longer fit what they are over: somebody changed the books past all guards, or the disk did.',
  runbook: 'depositdsealbroken',
  docs: 'seals.md#what-is-checked',
  unit: 'short',
  queries: [
    {
      expr: `sum(max by (service, network) (depositd_mismatches_open{kind="seal_broken"})) ${zeroWhenRead('live')}`,
      legend: 'broken',
    },
  ],
  thresholds: [{ from: null, color: 'red' }],
  words: { '0': { text: 'whole', color: 'green' } },
  width: 4,
  height: 4,
}

const sealAge: Panel = {
  title: 'Not sealed yet',
  kind: 'stat',
  description:
    'How long the oldest row has waited for its seal; by default, rows are sealed every twenty seconds. Red as the alert.',
  runbook: 'depositdsealoverdue',
  docs: 'settings.md#schedule',
  unit: 's',
  queries: [{ expr: `max(depositd_ledger_seal_age_seconds) ${zeroWhenRead('live')}`, legend: 'oldest' }],
  thresholds: worseFrom(120, 300),
  width: 4,
  height: 4,
}

export const holdRow: Row = {
  title: 'Do the books hold?',
  panels: [booksPanel, untiedCount, reported, unexplainedCount, sealBroken, sealAge],
}

const imbalance: Panel = {
  title: 'Sum of all entries',
  kind: 'table',
  description: 'Per asset, in its units: zero, or an emergency.',
  runbook: 'depositdledgerimbalance',
  docs: 'accounting.md#what-postgres-holds',
  unit: 'locale',
  queries: [{ expr: chosenAssets('max by (asset) (abs(depositd_ledger_imbalance))'), legend: 'sum' }],
  thresholds: redFrom(leastAmount),
  columns: { sum: 'locale' },
  colored: ['sum'],
  width: 8,
  height: 8,
}

const untied: Panel = {
  title: 'What the audit found',
  kind: 'timeseries',
  description:
    'in_transit: left of deposits that are closed. tie_out: not agreeing with proved balances. In units of each asset; approximate.',
  runbook: 'depositdledgeruntied',
  docs: 'accounting.md#in-transit-tied-to-the-chain',
  unit: 'locale',
  queries: [
    {
      expr: `${chosenAndUnbooked('max by (control, asset) (depositd_ledger_untied)')} ${onlyZeroWhenRead('live')}`,
      legend: '{{control}} {{symbol}} {{network}}',
    },
  ],
  thresholds: redFrom(leastAmount),
  width: 8,
  height: 8,
}

const unexplained: Panel = {
  title: 'What balances changed by, not explained',
  kind: 'timeseries',
  description:
    'What proved balances of deposit addresses changed by beyond all known transfers, in units of each asset; approximate.',
  runbook: 'unexplained_balance',
  docs: 'settings.md#how-balances-are-proved',
  unit: 'locale',
  queries: [
    {
      expr: `${chosenAndUnbooked('max by (asset) (depositd_unexplained_balance)')} ${onlyZeroWhenRead('live')}`,
      legend: '{{symbol}} {{network}}',
    },
  ],
  thresholds: redFrom(leastAmount),
  width: 8,
  height: 8,
}

export const controlRow: Row = { title: 'Control totals', panels: [imbalance, untied, unexplained] }

const sealAgeOverTime: Panel = {
  ...sealAge,
  title: 'Not sealed yet, over time',
  kind: 'timeseries',
  queries: [{ expr: 'max(depositd_ledger_seal_age_seconds)', legend: 'oldest' }],
  width: 8,
  height: 8,
}

const lastCheckpoints: Panel = {
  title: 'Last checkpoints',
  kind: 'table',
  description:
    'Each is the root of a hash tree over all sealed rows. "depositd ledger verify" checks it against the rows.',
  runbook: 'seal_broken',
  docs: 'seals.md#what-is-hashed',
  unit: 'short',
  queries: [
    {
      sql: `select size as rows, made_at, left(root, 16) as root, signed_by
from accounting.checkpoints order by size desc limit 20`,
    },
  ],
  thresholds: noBounds,
  columns: { rows: 'none' },
  width: 8,
  height: 8,
}

const journals: Panel = {
  title: 'Journals an hour',
  kind: 'timeseries',
  description:
    'What was booked, by kind, when it was written. Reversals are corrections: many of them mean that evidence changes after it counted as final.',
  runbook: 'orphaned_after_booking',
  docs: 'accounting.md#journals',
  unit: 'short',
  queries: [
    {
      sql: `select date_trunc('hour', recorded_at) as time, kind as metric, count(*) as journals
from accounting.journal where $__timeFilter(recorded_at)
group by 1, 2 order by 1, 2`,
      series: true,
    },
  ],
  thresholds: noBounds,
  stacked: true,
  bars: true,
  width: 8,
  height: 8,
}

export const sealRow: Row = {
  title: 'Journals and checkpoints',
  panels: [journals, sealAgeOverTime, lastCheckpoints],
}
