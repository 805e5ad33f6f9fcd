import type { Logger } from 'pino'
import { limitLines } from '../log/limit-lines.ts'
import { logEvent } from '../log/log-event.ts'
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
  const mayReport = limitLines(
    (suppressed) => logEvent(log, 'webhook_refusals_suppressed', { suppressed }),
    now,
  )
  return {
    webhook({ outcome, seconds, reason, event, traceId }) {
      metrics.webhooks.inc({ outcome })
      metrics.webhookAck.observe({}, seconds, exemplarOf({ event, traceId }))
      if (!keptOutcomes.has(outcome) && mayReport()) logEvent(log, 'webhook_refused', { outcome, reason })
    },
    quarantineDropped(reason) {
      metrics.quarantineDropped.inc({ reason })
    },
    webhookScheme(event) {
      if (event.kind === 'refused') {
        metrics.webhookSettings.inc({ outcome: 'refused' })
        logEvent(log, 'webhook_settings_refused', { err: event.error })
        return
      }
      const { kind, scheme } = event
      metrics.webhookSettings.inc({ outcome: 'used' }, kind === 'changed' ? 1 : 0)
      metrics.webhooksUnsigned.set({}, scheme === 'none' ? 1 : 0)
      logEvent(log, 'webhook_settings_read', { change: kind, scheme })
      if (scheme === 'none') logEvent(log, 'webhooks_unsigned')
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
