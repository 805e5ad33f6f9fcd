import type { Metrics } from './metrics.ts'

/**
 * For how long a canary has not succeeded, null where that is not known, and for how long it may: seconds. `network` is
 * null for the webhook.
 */
export type CanaryReading = { network: string | null; age: number | null; limit: number }

/** Sets the gauges to what was read now; those of canaries that are off are left out. */
export function showCanaries(metrics: Metrics, canaries: readonly CanaryReading[]): void {
  metrics.canaryWebhookAge.clear()
  metrics.canaryWebhookLimit.clear()
  metrics.canaryDepositAge.clear()
  metrics.canaryDepositLimit.clear()
  for (const { network, age, limit } of canaries) {
    if (network === null) {
      metrics.canaryWebhookLimit.set({}, limit)
      if (age !== null) metrics.canaryWebhookAge.set({}, age)
    } else {
      metrics.canaryDepositLimit.set({ network }, limit)
      if (age !== null) metrics.canaryDepositAge.set({ network }, age)
    }
  }
}
