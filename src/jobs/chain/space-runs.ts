export type SpacedRuns = {
  /** Runs at once where the last run is long enough ago, else together with all who ask until it is. */
  ask: () => void
  /** Makes up now for the run that is still owed, and starts no further one. */
  stop: () => Promise<void>
}

/** Runs at most once in that time, and always once after it was last asked to. */
export function spaceRuns(everyMs: number, run: () => Promise<void>): SpacedRuns {
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
