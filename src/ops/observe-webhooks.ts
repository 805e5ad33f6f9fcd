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
  quarantineDropped: (reason: 'rate' | 'full') => void
}

const keptOutcomes = new Set(['stored', 'duplicate', 'conflicting'])

/** Lines of one second. A flood is counted by the metrics, and must not fill a disk. */
const refusalLinesMax = 10

/** @param now milliseconds */
export function observeWebhooks(metrics: Metrics, log: Logger, now = Date.now): WebhookObserver {
  let second = 0
  let refusals = 0
  const logRefusal = (refusal: { outcome: string; reason?: string | undefined }): void => {
    const current = Math.floor(now() / 1000)
    if (current !== second) {
      if (refusals > refusalLinesMax)
        log.warn({ untold: refusals - refusalLinesMax }, 'more webhooks were refused')
      second = current
      refusals = 0
    }
    if (++refusals <= refusalLinesMax) log.warn(refusal, 'webhook refused')
  }
  return {
    webhook({ outcome, seconds, reason }) {
      metrics.webhooks.inc({ outcome })
      metrics.webhookAck.observe(seconds)
      if (!keptOutcomes.has(outcome)) logRefusal({ outcome, reason })
    },
    quarantineDropped(reason) {
      metrics.quarantineDropped.inc({ reason })
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
