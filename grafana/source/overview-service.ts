import type { Row } from './panel.ts'

export const serviceRow: Row = {
  title: 'The service',
  panels: [
    {
      title: 'Requests to the service',
      kind: 'timeseries',
      description:
        "Requests to the service's API by how they ended. refused: the key, limited: too many, failed: no answer, withheld: not sent, since the service is left alone.",
      unit: 'reqps',
      queries: [
        {
          expr: 'sum by (outcome) (rate(depositd_poll_requests_total[$__rate_interval]))',
          legend: '{{outcome}}',
        },
      ],
      width: 6,
      height: 8,
    },
    {
      title: 'Poll age',
      kind: 'timeseries',
      description:
        "Since the service's records were last read completely (never: 0). Red as the alert: docs/runbook.md#depositdpolldead",
      unit: 's',
      queries: [{ expr: 'max(depositd_poll_age_seconds)', legend: 'age' }],
      thresholds: [
        { from: null, color: 'green' },
        { from: 120, color: 'orange' },
        { from: 300, color: 'red' },
      ],
      width: 6,
      height: 8,
    },
    {
      title: 'Age of the last full reading',
      kind: 'timeseries',
      description:
        'Since the last reading of all records that came to the end began (never: 0). Every schedule.pollAll there is one; what it misses is looked for: docs/runbook.md#record_disappeared',
      unit: 's',
      queries: [{ expr: 'max(depositd_poll_sweep_age_seconds)', legend: 'age' }],
      width: 6,
      height: 8,
    },
    {
      title: 'Records that shifted, within an hour',
      kind: 'timeseries',
      description:
        'Times that records shifted between pages while they were read. Those pages are read again; often means that the list is not in the order that the profile says.',
      unit: 'short',
      queries: [{ expr: 'sum(increase(depositd_poll_drifts_total[1h]))', legend: 'shifts' }],
      width: 6,
      height: 8,
    },
    {
      title: 'Steps that webhooks told of',
      kind: 'timeseries',
      description:
        'Of the steps of the last 24 hours that the API or a chain knows, the share of which a webhook told. Less than all: docs/runbook.md#webhook_missing',
      unit: 'percentunit',
      queries: [{ expr: 'min by (route) (depositd_scorecard_completeness_ratio)', legend: '{{route}}' }],
      width: 6,
      height: 8,
    },
    {
      title: 'Webhook lag',
      kind: 'timeseries',
      description: 'From an event to its webhook, over the deposits of the last 24 hours.',
      unit: 's',
      queries: [
        {
          expr: 'max by (quantile) (depositd_scorecard_delivery_seconds{route="all"})',
          legend: '{{quantile}}',
        },
      ],
      width: 6,
      height: 8,
    },
    {
      title: 'Time to settle',
      kind: 'timeseries',
      description:
        'From a final payment to its proved delivery, over the deposits of the last 24 hours: half are faster.',
      unit: 's',
      queries: [
        {
          expr: 'max by (route) (depositd_scorecard_settle_seconds{quantile="0.5"})',
          legend: '{{route}}',
        },
      ],
      width: 6,
      height: 8,
    },
    {
      title: 'Effective fee, and repeated webhooks',
      kind: 'table',
      description:
        'By route, over the deposits of the last 24 hours: the stated fee as a share of what was delivered and the fee, and how often a webhook came again.',
      unit: 'none',
      queries: [
        { expr: 'max by (route) (depositd_scorecard_fee_ratio)', legend: 'fee' },
        { expr: 'max by (route) (depositd_scorecard_duplicates)', legend: 'repeats' },
      ],
      columns: { fee: 'percentunit', repeats: 'short' },
      width: 6,
      height: 8,
    },
  ],
}
