import { type Panel, type Row, redFrom, worseFrom } from '../build/panel.ts'
import { elseZero, zeroWhenRead } from '../build/promql.ts'

const inbox: Panel = {
  title: 'Inbox',
  kind: 'stat',
  description:
    'Age of the oldest observation that is stored and not applied yet. From a minute on, the daemon is unready. More on the dashboard Pipeline.',
  runbook: 'depositdinboxnotdrained',
  unit: 's',
  queries: [{ expr: 'max(depositd_inbox_oldest_seconds)', legend: 'oldest' }],
  thresholds: worseFrom(10, 60),
  width: 4,
  height: 4,
}

const notStored: Panel = {
  title: 'Webhooks not stored, 15 minutes',
  kind: 'stat',
  description:
    'Webhooks that were answered with 503, since they could not be stored. The sender has to repeat them.',
  runbook: 'depositdwebhooksnotstored',
  unit: 'short',
  queries: [
    {
      expr: `sum(increase(depositd_webhook_requests_total{service=~"$service",outcome=~"overloaded|unavailable"}[15m])) ${elseZero}`,
      legend: 'not stored',
    },
  ],
  thresholds: redFrom(1),
  width: 4,
  height: 4,
}

const poll: Panel = {
  title: 'Records of the service',
  kind: 'stat',
  description: "Since the service's records were last read completely (never: 0). Red as the alert.",
  runbook: 'depositdpolldead',
  unit: 's',
  queries: [{ expr: 'max(depositd_poll_age_seconds{service=~"$service"})', legend: 'age' }],
  thresholds: worseFrom(120, 300),
  width: 4,
  height: 4,
}

const chains: Panel = {
  title: 'Chain that is read the least',
  kind: 'stat',
  description:
    'Since the network that waits the longest was last read on. Red as the alert. More on the dashboard Chains.',
  runbook: 'depositdchainnotread',
  unit: 's',
  queries: [{ expr: 'max(depositd_chain_head_lag_seconds{network=~"$network"})', legend: 'lag' }],
  thresholds: worseFrom(30, 120),
  width: 4,
  height: 4,
}

const seals: Panel = {
  title: 'Not sealed yet',
  kind: 'stat',
  description:
    'How long the oldest row has waited for its seal; by default, rows are sealed every twenty seconds. Red as the alert.',
  runbook: 'depositdsealoverdue',
  docs: 'seals.md#what-is-checked',
  unit: 's',
  queries: [{ expr: `max(depositd_ledger_seal_age_seconds) ${zeroWhenRead('live')}`, legend: 'oldest' }],
  thresholds: worseFrom(120, 300),
  width: 4,
  height: 4,
}

const jobs: Panel = {
  title: 'Failed runs of one job, 15 minutes',
  kind: 'stat',
  description:
    'Each runs again by itself; one that keeps failing needs a look. The job that fails the most; above five, the alert.',
  runbook: 'depositdjobfailing',
  unit: 'short',
  queries: [
    { expr: `max(sum by (name) (increase(depositd_job_failures_total[15m]))) ${elseZero}`, legend: 'failed' },
  ],
  thresholds: worseFrom(1, 5),
  width: 4,
  height: 4,
}

export const partsRow: Row = {
  title: 'Does every part still look?',
  panels: [inbox, notStored, poll, chains, seals, jobs],
}
