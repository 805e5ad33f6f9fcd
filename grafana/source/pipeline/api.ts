import { noBounds, type Panel, type Row, redFrom, worseFrom } from '../build/panel.ts'
import { elseZero, quantile } from '../build/promql.ts'

const docs = 'api.md#requests'

const answers: Panel = {
  title: 'API requests by answer',
  kind: 'timeseries',
  description: '304: the caller had it already. 4xx: refused. 429: refused by a limit. 5xx: failed.',
  runbook: 'depositdapifailing',
  docs,
  unit: 'reqps',
  queries: [
    { expr: 'sum by (status) (rate(depositd_api_requests_total[$__rate_interval]))', legend: '{{status}}' },
  ],
  thresholds: noBounds,
  width: 6,
  height: 8,
}

const failedShare: Panel = {
  title: 'API requests failed, 15 minutes',
  kind: 'timeseries',
  description:
    'Share of requests answered with 5xx. Above a twentieth, and five in 15 minutes, as the alert.',
  runbook: 'depositdapifailing',
  docs,
  unit: 'percentunit',
  queries: [
    {
      expr: `sum(rate(depositd_api_requests_total{status="5xx"}[15m])) / (sum(rate(depositd_api_requests_total[15m])) > 0) ${elseZero}`,
      legend: 'failed',
    },
  ],
  thresholds: redFrom(0.05),
  width: 6,
  height: 8,
}

const slowest: Panel = {
  title: 'API answer by call, p99',
  kind: 'timeseries',
  description:
    'From a request to its answer, without those that wait for a change. Empty while nothing calls.',
  runbook: 'depositdapifailing',
  docs,
  unit: 's',
  queries: [
    {
      expr: quantile(0.99, {
        of: 'depositd_api_request_seconds_bucket',
        by: 'call',
        over: '$__rate_interval',
      }),
      legend: '{{call}}',
    },
  ],
  thresholds: worseFrom(0.5, 2.5),
  width: 6,
  height: 8,
}

const waiting: Panel = {
  title: 'API requests that wait',
  kind: 'timeseries',
  description: 'Requests that wait for a change of a deposit. A process refuses more than 100 at once.',
  runbook: 'depositdapifailing',
  docs: 'api.md#wait-for-a-change',
  unit: 'short',
  queries: [{ expr: 'max(depositd_api_waiting_requests)', legend: 'waiting, in one process' }],
  thresholds: redFrom(100),
  width: 6,
  height: 8,
}

const attempts: Panel = {
  title: 'Events: attempts within an hour',
  kind: 'timeseries',
  description:
    'Attempts to deliver events to your own endpoints, by outcome. Each that failed is tried again. Empty without endpoints.',
  runbook: 'depositdeventslate',
  docs: 'events.md#order-and-retries',
  unit: 'short',
  queries: [
    { expr: 'sum by (outcome) (increase(depositd_event_attempts_total[1h]))', legend: '{{outcome}}' },
  ],
  thresholds: noBounds,
  width: 12,
  height: 8,
}

const delivery: Panel = {
  title: 'Events: from the change to the answer, p99',
  kind: 'timeseries',
  description: 'Of events that an endpoint took within the hour.',
  runbook: 'depositdeventslate',
  docs: 'events.md#delivery',
  unit: 's',
  queries: [
    {
      expr: quantile(0.99, { of: 'depositd_event_delivery_seconds_bucket', by: '', over: '1h' }),
      legend: 'p99',
    },
  ],
  thresholds: noBounds,
  width: 12,
  height: 8,
}

export const apiRow: Row = {
  title: 'The API and events, if they are on',
  panels: [answers, failedShare, slowest, waiting, attempts, delivery],
}
