/** Backs off failed items, so that they do not block the others. */
export type RetryBackoff = {
  /** The items that must not be retried yet. */
  waiting(): string[]
  /** Postpones an item without counting a failure. */
  putOff(id: string, pauseMs: number): void
  /** Records a failure. Returns the number of consecutive failures. */
  failed(id: string): number
  done(id: string): void
}

const firstPauseMs = 2000
const pauseMaxMs = 300_000

export function createPostponed(now: () => number): RetryBackoff {
  const entries = new Map<string, { failures: number; dueAt: number }>()
  const putOff = (id: string, pauseMs: number, failures: number): void => {
    entries.set(id, { failures, dueAt: now() + pauseMs })
  }
  return {
    waiting: () => [...entries].filter(([, { dueAt }]) => dueAt > now()).map(([id]) => id),
    putOff: (id, pauseMs) => putOff(id, pauseMs, 0),
    failed: (id) => {
      const failures = (entries.get(id)?.failures ?? 0) + 1
      putOff(id, Math.min(pauseMaxMs, firstPauseMs * 2 ** Math.min(failures - 1, 20)), failures)
      return failures
    },
    done: (id) => entries.delete(id),
  }
}
