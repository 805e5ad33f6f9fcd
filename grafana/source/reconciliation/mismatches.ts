import { noBounds, type Panel, type Row } from '../build/panel.ts'
import { grownBy } from '../build/promql.ts'
import { ageingPanel, atRiskPanel, kindsPanel } from '../build/shared.ts'

const byCause: Panel = {
  title: 'Open causes over time, by kind',
  kind: 'timeseries',
  description:
    'Mismatches of the same kind, service, network and side at fault that were opened soon after each other are one cause, whatever the number of deposits. Those that call for people have an alert: nobody has taken them in time.',
  runbook: 'depositdseveremismatch',
  docs: 'settings.md#alerts',
  unit: 'short',
  queries: [
    { expr: `${byKindOf('depositd_causes_open')} > 0`, legend: '{{kind}}' },
    { expr: `${byKindOf('depositd_causes_waiting', ', nth')} > 0`, legend: '{{kind}}, calls for people' },
  ],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

function byKindOf(gauge: string, alsoBy = ''): string {
  return `sum by (kind) (max by (kind, service, network, side${alsoBy}) (${gauge}{service=~"$service",network=~"$network|"}))`
}

const flow: Panel = {
  title: 'Opened and ended within an hour',
  kind: 'timeseries',
  description:
    'A kind that opens faster than it ends is a fault of one side, not a single accident. What ended is of all networks.',
  runbook: 'mismatches',
  docs: 'case-work.md#metrics',
  unit: 'short',
  queries: [
    {
      expr: `sum by (kind) (${grownBy('depositd_mismatches_opened_total{service=~"$service",network=~"$network|"}', '1h')}) > 0`,
      legend: '{{kind}} opened',
    },
    {
      expr: 'sum by (kind) (increase(depositd_mismatches_resolved_total{service=~"$service"}[1h])) > 0',
      legend: '{{kind}} ended',
    },
  ],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

const how: Panel = {
  title: 'How mismatches ended, 24 hours',
  kind: 'timeseries',
  description:
    'By evidence: what was missing arrived. By a person: somebody decided. Much of the second is work that a policy, or the service, should take off people.',
  runbook: 'mismatches',
  docs: 'case-work.md#statuses',
  unit: 'short',
  queries: [
    {
      expr: 'sum by (how) (increase(depositd_mismatches_resolved_total{service=~"$service"}[24h]))',
      legend: '{{how}}',
    },
  ],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

export const mismatchRow: Row = {
  title: 'What does not agree',
  panels: [byCause, kindsPanel, ageingPanel, flow, how, atRiskPanel],
}
