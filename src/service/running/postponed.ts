/** Remembers what failed, so that it is tried ever later and does not keep the rest from its turn. */
export type Postponed = {
  isDue(id: string): boolean
  /** Returns how often it failed in a row. */
  failed(id: string): number
  done(id: string): void
}

const firstPauseMs = 2000
const pauseMaxMs = 300_000

export function createPostponed(now: () => number): Postponed {
  const entries = new Map<string, { failures: number; dueAt: number }>()
  return {
    isDue: (id) => (entries.get(id)?.dueAt ?? 0) <= now(),
    failed: (id) => {
      const failures = (entries.get(id)?.failures ?? 0) + 1
      const pauseMs = Math.min(pauseMaxMs, firstPauseMs * 2 ** Math.min(failures - 1, 20))
      entries.set(id, { failures, dueAt: now() + pauseMs })
      return failures
    },
    done: (id) => entries.delete(id),
  }
}
