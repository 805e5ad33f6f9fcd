/** Remembers what failed, so that it is tried ever later and does not keep the rest from its turn. */
export type RetryBackoff = {
  /** Those that are not to be tried yet. */
  waiting(): string[]
  /** Puts it off for that long, without a failure. */
  putOff(id: string, pauseMs: number): void
  /** Returns how often it failed in a row. */
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
