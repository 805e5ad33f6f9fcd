import { canaryDepositOutcomes, canaryWebhookOutcomes } from '../../core/canary.ts'
import { counter, gauge, histogram, lagBuckets, requestBuckets } from './declare.ts'
import { networks } from './label-values.ts'

const ofNetwork = { labels: { network: networks } }

export const ofCanaries = {
  canaryWebhooks: counter(
    'canary_webhooks_total',
    'Webhooks that were sent to the public address by this program itself, by how they ended: only received is well.',
    { labels: { outcome: canaryWebhookOutcomes } },
  ),
  canaryWebhook: histogram(
    'canary_webhook_seconds',
    'From sending such a webhook to the answer, of those that came in.',
    { buckets: requestBuckets },
  ),
  canaryWebhookAge: gauge(
    'canary_webhook_age_seconds',
    'Since such a webhook last came in, or since the first was to be sent; left out where none are sent.',
  ),
  canaryWebhookLimit: gauge(
    'canary_webhook_limit_seconds',
    'By the settings, how old that may become: three spans, and the time one may take.',
  ),
  canaryDeposits: counter(
    'canary_deposits_total',
    'Deposits of our own, made to see that the way is open, by how they ended: only reconciled is well.',
    { labels: { network: networks, outcome: canaryDepositOutcomes } },
  ),
  canaryDeposit: histogram(
    'canary_deposit_seconds',
    'From the payment of such a deposit to the agreement of all sources.',
    { ...ofNetwork, buckets: lagBuckets },
  ),
  canaryDepositAge: gauge(
    'canary_deposit_age_seconds',
    'Since such a deposit was last reconciled, or since the first was to be made.',
    ofNetwork,
  ),
  canaryDepositLimit: gauge(
    'canary_deposit_limit_seconds',
    'By the settings, how old that may become: the span between two of them, and the time one may take.',
    ofNetwork,
  ),
}
