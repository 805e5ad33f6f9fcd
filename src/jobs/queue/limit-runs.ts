/**
 * Coalesces runs: at most one per id at a time. All callers during a run share the next one. It starts after their
 * call, so it sees everything they wrote before.
 */
export function coalesceRuns(): (id: string, run: () => Promise<void>) => Promise<void> {
  const current = new Map<string, Promise<void>>()
  const following = new Map<string, Promise<void>>()

  function start(id: string, run: () => Promise<void>): Promise<void> {
    const started = run().finally(() => current.delete(id))
    current.set(id, started)
    return started
  }

  return (id, run) => {
    const active = current.get(id)
    if (active === undefined) return start(id, run)
    const waiting = following.get(id)
    if (waiting !== undefined) return waiting
    const next = active
      .catch(() => undefined)
      .then(() => {
        following.delete(id)
        return start(id, run)
      })
    following.set(id, next)
    return next
  }
}

export type SpacedRuns = {
  /** Runs at once if the last run is long enough ago. Otherwise coalesces all calls until then into one run. */
  ask: () => void
  /** Performs the run still owed, if any, and starts no further one. */
  stop: () => Promise<void>
}

/** Throttles: at most one run per `everyMs`, and always one after the last call. */
export function throttleRuns(everyMs: number, run: () => Promise<void>): SpacedRuns {
  let timer: NodeJS.Timeout | undefined
  let isOwed = false

  function start(): void {
    isOwed = false
    timer = setTimeout(rested, everyMs)
    void run()
  }

  function rested(): void {
    timer = undefined
    if (isOwed) start()
  }

  return {
    ask() {
      if (timer === undefined) start()
      else isOwed = true
    },
    async stop() {
      clearTimeout(timer)
      if (isOwed) await run()
      isOwed = false
    },
  }
}
