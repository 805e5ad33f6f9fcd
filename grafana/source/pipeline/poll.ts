import { noBounds, orangeFrom, type Panel, type Row, worseFrom } from '../build/panel.ts'

const requests: Panel = {
  title: 'Requests to the services',
  kind: 'timeseries',
  description:
    "Requests to the service's API by how they ended. refused: the key, limited: too many, failed: no answer, withheld: not sent, since the service is left alone.",
  runbook: 'depositdpolldead',
  docs: 'settings.md#how-the-service-is-read',
  unit: 'reqps',
  queries: [
    {
      expr: 'sum by (outcome) (rate(depositd_poll_requests_total{service=~"$service"}[$__rate_interval]))',
      legend: '{{outcome}}',
    },
  ],
  thresholds: noBounds,
  width: 6,
  height: 8,
}

const age: Panel = {
  title: 'Poll age',
  kind: 'timeseries',
  description: "Since the service's records were last read completely (never: 0). Red as the alert.",
  runbook: 'depositdpolldead',
  unit: 's',
  queries: [
    { expr: 'max by (service) (depositd_poll_age_seconds{service=~"$service"})', legend: '{{service}}' },
  ],
  thresholds: worseFrom(120, 300),
  width: 6,
  height: 8,
}

const sweep: Panel = {
  title: 'Age of the last full reading',
  kind: 'timeseries',
  description:
    'Since the last reading of all records that came to the end began (never: 0). Every schedule.pollAll there is one; what it misses is looked for. Orange as the alert.',
  runbook: 'depositdsweepoverdue',
  docs: 'settings.md#schedule',
  unit: 's',
  queries: [
    {
      expr: 'max by (service) (depositd_poll_sweep_age_seconds{service=~"$service"})',
      legend: '{{service}}',
    },
  ],
  thresholds: orangeFrom(43_200),
  width: 6,
  height: 8,
}

const drifts: Panel = {
  title: 'Records that shifted, within an hour',
  kind: 'timeseries',
  description:
    'Times that records shifted between pages while they were read. Those pages are read again; often means that the list is not in the order that the profile says.',
  runbook: 'api_missing',
  docs: 'mapping.md#how-deposits-are-listed',
  unit: 'short',
  queries: [
    {
      expr: 'sum by (service) (increase(depositd_poll_drifts_total{service=~"$service"}[1h]))',
      legend: '{{service}}',
    },
  ],
  thresholds: orangeFrom(10),
  width: 6,
  height: 8,
}

export const pollRow: Row = { title: 'The services are read', panels: [requests, age, sweep, drifts] }
