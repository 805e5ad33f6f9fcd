/** After this many checks in a row that find idle hands and waiting work. */
const suspicionsMax = 3

type WatchdogTarget = {
  /** Counts every run that began or ended. */
  progress: () => number
  /** True where every hand is busy, so that waiting work is no sign of trouble. */
  busy: () => boolean
  waiting: () => Promise<number>
  replace: () => void
}

/**
 * Notices a worker that says it runs and takes nothing, as BullMQ workers did after an outage of their server
 * (taskforcesh/bullmq#4585). Call the result at regular times.
 */
export function createWatchdog({ progress, busy, waiting, replace }: WatchdogTarget): () => Promise<void> {
  let seen = progress()
  let suspicions = 0

  return async () => {
    const idle = progress() === seen && !busy()
    seen = progress()
    const neglected = idle && (await waiting()) > 0 && progress() === seen
    suspicions = neglected ? suspicions + 1 : 0
    if (suspicions < suspicionsMax) return
    suspicions = 0
    replace()
  }
}
