import type { Logger } from 'pino'
import { limitLines } from '../log/limit-lines.ts'
import { tell } from '../log/tell.ts'
import type { Exemplar } from './metrics/declare.ts'
import type { Metrics } from './metrics.ts'

/** `refused`: the current settings cannot be used. */
type WebhookSchemeEvent =
  | { kind: 'opened' | 'changed' | 'unchanged'; scheme: string }
  | { kind: 'refused'; error: unknown }

/** `event`: the sender's event id. `traceId`: set if requests are traced. */
type WebhookAnswer = {
  outcome: string
  seconds: number
  reason?: string
  event?: string
  traceId?: string
}

/** Observes the webhook endpoint. */
export type WebhookObserver = {
  webhook: (answer: WebhookAnswer) => void
  webhookScheme: (event: WebhookSchemeEvent) => void
  quarantineDropped: (reason: 'rate' | 'full') => void
}

const keptOutcomes = new Set(['stored', 'duplicate', 'conflicting', 'canary'])

/** @param now milliseconds */
export function observeWebhooks(metrics: Metrics, log: Logger, now = Date.now): WebhookObserver {
  const mayTell = limitLines((untold) => tell(log, 'webhooks_refused_more', { untold }), now)
  return {
    webhook({ outcome, seconds, reason, event, traceId }) {
      metrics.webhooks.inc({ outcome })
      metrics.webhookAck.observe({}, seconds, exemplarOf({ event, traceId }))
      if (!keptOutcomes.has(outcome) && mayTell()) tell(log, 'webhook_refused', { outcome, reason })
    },
    quarantineDropped(reason) {
      metrics.quarantineDropped.inc({ reason })
    },
    webhookScheme(event) {
      if (event.kind === 'refused') {
        metrics.webhookSettings.inc({ outcome: 'refused' })
        tell(log, 'webhook_settings_refused', { err: event.error })
        return
      }
      const { kind, scheme } = event
      metrics.webhookSettings.inc({ outcome: 'used' }, kind === 'changed' ? 1 : 0)
      metrics.webhooksUnsigned.set({}, scheme === 'none' ? 1 : 0)
      tell(log, 'webhook_settings_read', { change: kind, scheme })
      if (scheme === 'none') tell(log, 'webhooks_unsigned')
    },
  }
}

function exemplarOf({
  event,
  traceId,
}: {
  event: string | undefined
  traceId: string | undefined
}): Exemplar {
  return {
    ...(event !== undefined && { webhook: event }),
    ...(traceId !== undefined && { trace_id: traceId }),
  }
}
