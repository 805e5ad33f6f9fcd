import { canaryOutcomes } from '../../core/canary.ts'
import { counter, gauge, histogram, requestBuckets } from './declare.ts'

/** The result of a request to the webhook endpoint. */
export const webhookOutcomes = [
  'stored',
  'duplicate',
  'conflicting',
  'canary',
  'bad_signature',
  'bad_timestamp',
  'not_json',
  'too_large',
  'wrong_type',
  'overloaded',
  'unavailable',
  'aborted',
] as const

export const ofIntake = {
  webhooks: counter('webhook_requests_total', 'Webhook requests by how they were answered.', {
    labels: { outcome: webhookOutcomes },
  }),
  webhooksUnsigned: gauge('webhooks_unsigned', '1 while webhooks are taken without a signature.', {
    unit: 'flag',
  }),
  webhookSettings: counter(
    'webhook_settings_total',
    'Changes of the settings of webhooks, by whether they could be used.',
    { labels: { outcome: ['used', 'refused'] } },
  ),
  webhookAck: histogram('webhook_ack_seconds', 'From a request to its answer, commit included.', {
    buckets: requestBuckets,
  }),
  quarantineDeliveries: gauge('quarantine_deliveries', 'Deliveries that failed verification and are kept.'),
  quarantineDropped: counter(
    'quarantine_dropped_total',
    'Deliveries that failed verification and were not kept: too many of one sender, or more than the database took.',
    { labels: { reason: ['rate', 'full'] } },
  ),
  inboxPending: gauge('inbox_pending', 'Observations stored and not applied yet.'),
  inboxOldest: gauge('inbox_oldest_seconds', 'Age of the oldest observation not applied yet.'),
  canaryWebhooks: counter(
    'canary_webhooks_total',
    'Canaries (webhooks to our own public address) by outcome. Only received is good.',
    { labels: { outcome: canaryOutcomes } },
  ),
  canaryWebhook: histogram('canary_webhook_seconds', 'Round trip of canaries that arrived.', {
    buckets: requestBuckets,
  }),
  canaryWebhookAge: gauge(
    'canary_webhook_age_seconds',
    'Time since the last canary arrived, or since the canary was turned on. Absent if it is off.',
  ),
  canaryWebhookLimit: gauge(
    'canary_webhook_limit_seconds',
    'Age at which the canary counts as lost: three intervals and one timeout.',
  ),
}
