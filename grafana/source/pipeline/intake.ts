import { noBounds, orangeFrom, type Panel, type Row, redFrom, worseFrom } from '../build/panel.ts'
import { elseZero, quantile } from '../build/promql.ts'

const webhooks: Panel = {
  title: 'Webhooks by outcome',
  kind: 'timeseries',
  description:
    'bad_signature: wrong secret or a stranger. overloaded, unavailable: not stored, the sender has to repeat.',
  runbook: 'depositdwebhooksrefused',
  docs: 'webhooks.md#answers',
  unit: 'reqps',
  queries: [
    {
      expr: 'sum by (outcome) (rate(depositd_webhook_requests_total{service=~"$service"}[$__rate_interval]))',
      legend: '{{outcome}}',
    },
  ],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

const refusedShare: Panel = {
  title: 'Webhooks refused, 15 minutes',
  kind: 'timeseries',
  description:
    'Share of webhooks, canaries left out, that failed verification. Above a tenth, and five in 15 minutes, as the alert: secrets differ, or a stranger knocks.',
  runbook: 'depositdwebhooksrefused',
  docs: 'webhooks.md#secrets',
  unit: 'percentunit',
  queries: [
    {
      expr: `sum(rate(depositd_webhook_requests_total{service=~"$service",outcome=~"bad_signature|bad_timestamp"}[15m])) / (sum(rate(depositd_webhook_requests_total{service=~"$service",outcome!="canary"}[15m])) > 0) ${elseZero}`,
      legend: 'refused',
    },
  ],
  thresholds: redFrom(0.1),
  width: 8,
  height: 8,
}

const answer: Panel = {
  title: 'Webhook answer, p50 and p99',
  kind: 'timeseries',
  description:
    'From a request to its answer, commit included. Some senders give up after half a second. Dots are single deliveries.',
  runbook: 'depositdwebhooksnotstored',
  docs: 'internals/benchmarks.md#intake',
  unit: 's',
  queries: [
    {
      expr: quantile(0.5, { of: 'depositd_webhook_ack_seconds_bucket', by: '', over: '$__rate_interval' }),
      legend: 'p50',
    },
    {
      expr: quantile(0.99, { of: 'depositd_webhook_ack_seconds_bucket', by: '', over: '$__rate_interval' }),
      legend: 'p99',
      exemplars: true,
    },
  ],
  thresholds: worseFrom(0.1, 0.5),
  width: 8,
  height: 8,
}

const quarantine: Panel = {
  title: 'Quarantine',
  kind: 'timeseries',
  description:
    'Deliveries that failed verification. kept: they wait for a person. dropped: not kept within 15 minutes, by the reason: too many of one sender (rate), or more than the database took (full).',
  runbook: 'depositdwebhooksrefused',
  docs: 'webhooks.md#quarantine',
  unit: 'short',
  queries: [
    {
      expr: 'max by (service) (depositd_quarantine_deliveries{service=~"$service"})',
      legend: 'kept: {{service}}',
    },
    {
      expr: 'sum by (reason) (increase(depositd_quarantine_dropped_total[15m]))',
      legend: 'dropped: {{reason}}',
    },
  ],
  thresholds: orangeFrom(1),
  width: 8,
  height: 8,
}

const settings: Panel = {
  title: 'Settings of services',
  kind: 'timeseries',
  description:
    'used and refused: changes within 15 minutes. A change that is refused leaves the old settings in use.',
  runbook: 'depositdsettingsrefused',
  docs: 'settings.md#changes-without-a-restart',
  unit: 'short',
  queries: [
    {
      expr: 'sum by (outcome) (increase(depositd_settings_changes_total[15m]))',
      legend: '{{outcome}}',
    },
  ],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

const unsigned: Panel = {
  title: 'Signatures',
  kind: 'stat',
  description: 'Whether webhooks are taken without a signature: then whoever reaches the port can send them.',
  runbook: 'depositdwebhooksunsigned',
  docs: 'webhooks.md#signing-schemes',
  unit: 'none',
  queries: [{ expr: 'max(depositd_webhooks_unsigned{service=~"$service"})', legend: 'unsigned' }],
  thresholds: redFrom(1),
  words: { '0': { text: 'verified', color: 'green' }, '1': { text: 'not verified', color: 'red' } },
  width: 8,
  height: 8,
}

export const intakeRow: Row = {
  title: 'Webhooks come in',
  panels: [webhooks, refusedShare, answer, quarantine, settings, unsigned],
}
