/**
 * Runs at most one per id at a time. Callers during a run share the next one, which sees everything they wrote before.
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
  /** Runs at once if the last run is long enough ago, otherwise once for all calls until then. */
  ask: () => void
  stop: () => Promise<void>
}

/** Runs at most once per `everyMs`, and always after the last call. */
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
