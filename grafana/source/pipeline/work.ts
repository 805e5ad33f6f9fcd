import { noBounds, orangeFrom, type Panel, type Row, worseFrom } from '../build/panel.ts'
import { quantile } from '../build/promql.ts'

const pending: Panel = {
  title: 'Inbox: pending',
  kind: 'timeseries',
  description: 'Observations stored and not applied yet. A burst drains within seconds.',
  runbook: 'depositdinboxnotdrained',
  docs: 'internals/benchmarks.md#reconcile',
  unit: 'short',
  queries: [{ expr: 'max(depositd_inbox_pending)', legend: 'pending' }],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

const oldest: Panel = {
  title: 'Inbox: oldest',
  kind: 'timeseries',
  description:
    'Age of the oldest observation not applied yet. From a minute on the daemon is unready, and the alert is near.',
  runbook: 'depositdinboxnotdrained',
  docs: 'metrics.md#stages',
  unit: 's',
  queries: [{ expr: 'max(depositd_inbox_oldest_seconds)', legend: 'oldest' }],
  thresholds: worseFrom(10, 60),
  width: 8,
  height: 8,
}

const lags: Panel = {
  title: 'Delivery and apply, p95',
  kind: 'timeseries',
  description:
    "delivery: from an event to its webhook, the service's own time. apply: from storing an observation to applying it, ours. Over the last hour.",
  runbook: 'depositdinboxnotdrained',
  docs: 'metrics.md#stages',
  unit: 's',
  queries: [
    {
      expr: quantile(0.95, {
        of: 'depositd_stage_lag_seconds_bucket{stage=~"delivery|apply",service=~"$service|",network=~"$network|"}',
        by: 'stage',
        over: '1h',
      }),
      legend: '{{stage}}',
      exemplars: true,
    },
  ],
  thresholds: worseFrom(30, 60),
  width: 8,
  height: 8,
}

const queue: Panel = {
  title: 'Queue jobs',
  kind: 'timeseries',
  description:
    'Wake-ups in the queue by state. Work waiting while nothing is active: no worker runs. Losing them costs time, never data.',
  runbook: 'depositdqueuestuck',
  docs: 'metrics.md#all-metrics',
  unit: 'short',
  queries: [{ expr: 'max by (state) (depositd_queue_jobs{state!="completed"})', legend: '{{state}}' }],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

const failures: Panel = {
  title: 'Failed runs of jobs within 15 minutes',
  kind: 'timeseries',
  description: 'Each runs again by itself; one that keeps failing needs a look. Red as the alert.',
  runbook: 'depositdjobfailing',
  unit: 'short',
  queries: [{ expr: 'sum by (name) (increase(depositd_job_failures_total[15m]))', legend: '{{name}}' }],
  thresholds: worseFrom(1, 5),
  width: 8,
  height: 8,
}

const notifications: Panel = {
  title: 'Notifications within an hour',
  kind: 'timeseries',
  description:
    'Messages to channels and people, by outcome. Each that failed is tried again. Empty if the settings name none.',
  runbook: 'depositdnotificationnotsent',
  docs: 'how-to/notifications.md#if-a-channel-fails',
  unit: 'short',
  queries: [{ expr: 'sum by (outcome) (increase(depositd_notifications_total[1h]))', legend: '{{outcome}}' }],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

const overdue: Panel = {
  title: 'Oldest webhook that did not come',
  kind: 'timeseries',
  description:
    'For how long the oldest step that the API or a chain knows has waited for its webhook, by network. Orange as the alert.',
  runbook: 'depositddeliveryoverdue',
  docs: 'metrics.md#stages',
  unit: 's',
  queries: [
    {
      expr: 'max by (network) (depositd_stage_oldest_open_seconds{stage="delivery",service=~"$service",network=~"$network"})',
      legend: '{{network}}',
    },
  ],
  thresholds: orangeFrom(900),
  width: 8,
  height: 8,
}

export const workRow: Row = {
  title: 'What came in is applied',
  panels: [pending, oldest, lags, queue, failures, notifications, overdue],
}
