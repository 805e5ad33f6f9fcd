import type { Logger } from 'pino'
import type { Metrics } from './metrics.ts'

/** `refused`: what the settings say now cannot be used. */
type SchemeEvent =
  | { kind: 'opened' | 'changed' | 'unchanged'; scheme: string }
  | { kind: 'refused'; error: unknown }

/** What happens where webhooks come in. */
export type WebhookObserver = {
  webhook: (answer: { outcome: string; seconds: number; reason?: string }) => void
  webhookScheme: (event: SchemeEvent) => void
}

const keptOutcomes = new Set(['stored', 'duplicate', 'conflicting'])

export function observeWebhooks(metrics: Metrics, log: Logger): WebhookObserver {
  return {
    webhook({ outcome, seconds, reason }) {
      metrics.webhooks.inc({ outcome })
      metrics.webhookAck.observe(seconds)
      if (!keptOutcomes.has(outcome)) log.warn({ outcome, reason }, 'webhook refused')
    },
    webhookScheme(event) {
      if (event.kind === 'refused') {
        metrics.webhookSettings.inc({ outcome: 'refused' })
        log.error({ err: event.error }, 'settings of webhooks cannot be used; those from before stay')
        return
      }
      const { kind, scheme } = event
      metrics.webhookSettings.inc({ outcome: 'used' }, kind === 'changed' ? 1 : 0)
      // An increase is seen only of a series that is there before it.
      metrics.webhookSettings.inc({ outcome: 'refused' }, 0)
      metrics.webhooksUnsigned.set(scheme === 'none' ? 1 : 0)
      log.info({ scheme }, `settings of webhooks ${kind}`)
      if (scheme === 'none')
        log.warn('webhooks are taken without a signature: whoever reaches the port can send them')
    },
  }
}
