import type { LineSink } from '../log/log-event.ts'
import { logEvent } from '../log/log-event.ts'
import type { Metrics } from './metrics.ts'

/** Observes the webhooks and payments that depositd sends to itself. */
export type CanaryObserver = {
  webhook: (result: { outcome: string; seconds: number; problem: string | null }) => void
  deposit: (result: {
    network: string
    /** Null if it was reported before and only the duration is new. */
    outcome: string | null
    seconds: number | null
    problem: string | null
  }) => void
}

export function observeCanaries(metrics: Metrics, log: LineSink): CanaryObserver {
  return {
    webhook({ outcome, seconds, problem }) {
      metrics.canaryWebhooks.inc({ outcome })
      if (problem === null) metrics.canaryWebhook.observe({}, seconds)
      else logEvent(log, 'canary_webhook_lost', { outcome, problem })
    },
    deposit({ network, outcome, seconds, problem }) {
      if (seconds !== null) metrics.canaryDeposit.observe({ network }, seconds)
      if (outcome === null) return
      metrics.canaryDeposits.inc({ network, outcome })
      if (outcome !== 'reconciled') logEvent(log, 'canary_deposit_failed', { network, outcome, problem })
    },
  }
}
