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
