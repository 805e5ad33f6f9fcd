/** How one node does, as far as this process has seen. */
export type NodeHealth = {
  /** From 0 to 1: how much of what it was asked for lately failed. */
  failing: number
  /** How long its answers take, smoothed, in milliseconds; null until one came. */
  latencyMs: number | null
  /** Until then it is asked only after the others; by `performance.now()`. */
  restUntilMs: number
  /** Whether it has shown to be of the right chain since it last failed. */
  identified: boolean
}

/** What is new counts a fifth. */
const weight = 0.2

export function newHealth(): NodeHealth {
  return { failing: 0, latencyMs: null, restUntilMs: 0, identified: false }
}

export function noteLatency(health: NodeHealth, ms: number): void {
  health.latencyMs = health.latencyMs === null ? ms : smoothed(health.latencyMs, ms)
}

/** A rest goes on all the same: who was outvoted still answers well whatever is easy. */
export function noteSuccess(health: NodeHealth): void {
  health.failing = smoothed(health.failing, 0)
}

/** Behind its address may be another node when it is back. It rests the longer the more it fails. */
export function noteFailure(health: NodeHealth, { nowMs, restMs }: { nowMs: number; restMs: number }): void {
  health.failing = smoothed(health.failing, 1)
  health.identified = false
  // Measured anew afterwards.
  health.latencyMs = null
  health.restUntilMs = nowMs + restMs * (1 + 9 * health.failing)
}

/** From 0 to 1: 1 is a node that answers at once and never fails; a second of waiting halves it. */
export function scoreOf({ failing, latencyMs }: NodeHealth): number {
  return (1 - failing) / (1 + (latencyMs ?? 0) / 1000)
}

function smoothed(old: number, latest: number): number {
  return old + (latest - old) * weight
}
