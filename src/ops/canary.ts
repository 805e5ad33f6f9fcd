import { type LineSink, logEvent } from '../log/log-event.ts'
import type { Metrics } from './metrics.ts'

export function reportCanary(
  metrics: Metrics,
  log: LineSink,
  { outcome, seconds, problem }: { outcome: string; seconds: number; problem: string | null },
): void {
  metrics.canaryWebhooks.inc({ outcome })
  if (problem === null) metrics.canaryWebhook.observe({}, seconds)
  else logEvent(log, 'canary_webhook_lost', { outcome, problem })
}
