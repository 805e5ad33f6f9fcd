import { noBounds, type Panel, type Row, redFrom, worseFrom } from '../build/panel.ts'

/** Keeps what other programs tell under the same names out. */
const ofDaemons = '* on (instance) group_left () max by (instance) (depositd_build_info)'

const processor: Panel = {
  title: 'Processor time',
  kind: 'timeseries',
  description: 'Cores that each daemon uses. One that stays at a whole core has no time left for answers.',
  runbook: 'depositdinboxnotdrained',
  unit: 'percentunit',
  queries: [
    {
      expr: `sum by (instance) (rate(process_cpu_seconds_total[$__rate_interval])) ${ofDaemons}`,
      legend: '{{instance}}',
    },
  ],
  thresholds: worseFrom(0.8, 1),
  width: 8,
  height: 8,
}

const memory: Panel = {
  title: 'Memory',
  kind: 'timeseries',
  description: 'Memory that each daemon holds. It levels out; one that only rises is a leak.',
  runbook: 'depositdtargetdown',
  unit: 'bytes',
  queries: [
    { expr: `max by (instance) (process_resident_memory_bytes) ${ofDaemons}`, legend: '{{instance}}' },
  ],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

const loop: Panel = {
  title: 'Event loop lag, p99',
  kind: 'timeseries',
  description:
    'How late the event loop turns. While it stands still, no webhook is answered and liveness fails.',
  runbook: 'depositdwebhooksnotstored',
  unit: 's',
  queries: [
    { expr: `max by (instance) (nodejs_eventloop_lag_p99_seconds) ${ofDaemons}`, legend: '{{instance}}' },
  ],
  thresholds: worseFrom(0.1, 0.5),
  width: 8,
  height: 8,
}

const beats: Panel = {
  title: 'Signs of life',
  kind: 'stat',
  description:
    'Since the scheduler last made a job, and since a worker last did one. Every ten seconds there is one; what does not beat does not work.',
  runbook: 'depositdnobeat',
  unit: 's',
  queries: [{ expr: 'max by (role) (depositd_beat_age_seconds)', legend: '{{role}}' }],
  thresholds: worseFrom(30, 60),
  width: 12,
  height: 6,
}

const readable: Panel = {
  title: 'What could be read for metrics',
  kind: 'table',
  description:
    'Whether what each part of the gauges shows could be read for the last answer (1), and how old it is. Where it could not, those gauges are left out, and panels and alerts over them are silent.',
  runbook: 'depositdgaugesunreadable',
  docs: 'metrics.md#all-metrics',
  unit: 'short',
  queries: [
    { expr: 'min by (part) (depositd_gauges_readable)', legend: 'readable' },
    { expr: 'max by (part) (depositd_gauges_age_seconds)', legend: 'age' },
  ],
  thresholds: redFrom(300),
  columns: { readable: 'short', age: 's' },
  colored: ['age'],
  width: 12,
  height: 6,
}

export const processRow: Row = { title: 'The daemons', panels: [processor, memory, loop, beats, readable] }
