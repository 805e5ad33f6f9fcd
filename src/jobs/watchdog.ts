/** The worker is replaced after this many consecutive checks that find it idle while jobs wait. */
const suspicionsMax = 3

type WatchdogTarget = {
  /** Counts every start and end of a run. */
  progress: () => number
  /** True if all slots are busy. Waiting jobs are normal then. */
  busy: () => boolean
  waiting: () => Promise<number>
  replace: () => void
}

/**
 * Detects a worker that claims to run but takes no jobs, as BullMQ workers did after an outage of their server
 * (taskforcesh/bullmq#4585). Call the returned function at regular intervals.
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
