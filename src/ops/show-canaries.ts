import type { Metrics } from './metrics.ts'

/**
 * Seconds since the last success of a canary, null if unknown, and the limit in seconds. `network` is null for the
 * webhook canary.
 */
export type CanaryReading = { network: string | null; age: number | null; limit: number }

/** Sets the gauges to the current values; canaries that are off are left out. */
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
