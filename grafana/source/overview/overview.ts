import { deploys, periodCloses, reorgs } from '../build/annotations.ts'
import type { DashboardSource } from '../build/dashboard.ts'
import { noBounds, type Panel, type Row } from '../build/panel.ts'
import { ageingPanel, kindsPanel, oldestOpenPanel, openMismatches, stageLagPanel } from '../build/shared.ts'
import { assetVariable, datasourceVariable, networkVariable, serviceVariable } from '../build/variables.ts'
import { moneyRow } from './money.ts'
import { partsRow } from './parts.ts'

const bySeverity: Panel = {
  title: 'Open mismatches by severity',
  kind: 'timeseries',
  description: 'Severe ones page someone; warnings may clear by themselves when evidence arrives.',
  runbook: 'mismatches',
  docs: 'mismatches.md#severities',
  unit: 'short',
  queries: [{ expr: `sum by (severity) (${openMismatches})`, legend: '{{severity}}' }],
  thresholds: noBounds,
  width: 24,
  height: 6,
}

const alerts: Panel = {
  title: 'Alerts that fire',
  kind: 'table',
  description:
    'What somebody is told of now, as Prometheus has it, and of how many things each. Each has a section in the runbook, under its name. No data: none fires.',
  runbook: 'alerts',
  docs: 'slo.md#objectives',
  unit: 'short',
  queries: [
    {
      expr: 'sort_desc(count by (alertname, severity) (ALERTS{alertstate="firing",alertname=~"Depositd.*",alertname!="DepositdWatchdog"}))',
      legend: 'of',
    },
  ],
  thresholds: noBounds,
  columns: { of: 'short' },
  width: 8,
  height: 8,
}

const wrongRow: Row = { title: 'What is wrong', panels: [alerts, kindsPanel, ageingPanel, bySeverity] }

const lateRow: Row = {
  title: 'How late',
  panels: [oldestOpenPanel, stageLagPanel(50), stageLagPanel(95)],
}

/** Is money where it should be, and does every part still look? */
export const overview: DashboardSource = {
  name: 'overview',
  title: 'Overview',
  description:
    'Is money where it should be? From top to bottom: the answer, what is wrong, how late, and whether every part still looks.',
  variables: [datasourceVariable, serviceVariable, networkVariable, assetVariable],
  annotations: [reorgs, deploys, periodCloses],
  rows: [moneyRow, wrongRow, lateRow, partsRow],
  from: 'now-6h',
  refresh: '30s',
}
