/** The health of one node, as observed by this process. */
export type NodeHealth = {
  /** The share of recent requests that failed, from 0 to 1. */
  failing: number
  /** Smoothed response time in milliseconds; null until there is a measurement. */
  latencyMs: number | null
  /** Until this time, by `performance.now()`, the node is asked only after the others. */
  restUntilMs: number
  /** True if the node has proved to be of the right chain since it last failed. */
  identified: boolean
}

/** The weight of the latest measurement. */
const weight = 0.2

export function newHealth(): NodeHealth {
  return { failing: 0, latencyMs: null, restUntilMs: 0, identified: false }
}

export function noteLatency(health: NodeHealth, ms: number): void {
  health.latencyMs = health.latencyMs === null ? ms : smoothed(health.latencyMs, ms)
}

/** Does not end a rest: an outvoted node still answers simple requests well. */
export function noteSuccess(health: NodeHealth): void {
  health.failing = smoothed(health.failing, 0)
}

/**
 * Clears `identified`, because the address may lead to another node afterwards. The more the node fails, the longer it
 * rests.
 */
export function noteFailure(health: NodeHealth, { nowMs, restMs }: { nowMs: number; restMs: number }): void {
  health.failing = smoothed(health.failing, 1)
  health.identified = false
  // Measured again afterwards.
  health.latencyMs = null
  health.restUntilMs = nowMs + restMs * (1 + 9 * health.failing)
}

/** From 0 to 1: a node that answers at once and never fails scores 1; a second of latency halves the score. */
export function scoreOf({ failing, latencyMs }: NodeHealth): number {
  return (1 - failing) / (1 + (latencyMs ?? 0) / 1000)
}

function smoothed(old: number, latest: number): number {
  return old + (latest - old) * weight
}
