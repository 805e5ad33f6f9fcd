import type { Metrics } from './metrics.ts'

/** For how long a canary has not succeeded, and for how long it may: seconds. `network` is null for the webhook. */
export type CanaryReading = { network: string | null; age: number; limit: number }

/** Sets the gauges to what was read now; those of canaries that are off are left out. */
export function showCanaries(metrics: Metrics, canaries: readonly CanaryReading[]): void {
  metrics.canaryWebhookAge.clear()
  metrics.canaryWebhookLimit.clear()
  metrics.canaryDepositAge.clear()
  metrics.canaryDepositLimit.clear()
  for (const { network, age, limit } of canaries) {
    if (network === null) {
      metrics.canaryWebhookAge.set({}, age)
      metrics.canaryWebhookLimit.set({}, limit)
    } else {
      metrics.canaryDepositAge.set({ network }, age)
      metrics.canaryDepositLimit.set({ network }, limit)
    }
  }
}
