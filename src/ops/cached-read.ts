import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../core/errors.ts'

export type CachedValue<Value> = { value: Value; ageSeconds: number }

const keeping = {
  /** A read this fast is not cached, only shared by concurrent callers. */
  shortMs: 30,
  /**
   * The result of a slower read is kept for this many times its duration, which limits the share of time spent reading.
   */
  timesKept: 100,
  /** Even if the machine was slow during the read. */
  keptMaxMs: 60_000,
  /** After this long, a caller who waits for a new read gets the previous value. */
  waitMs: 25,
  /** A read that takes longer counts as hanging: the previous value is discarded. */
  hangMs: 5000,
  nowMs: () => performance.now(),
}

/** Bounds cost and time regardless of the amount of data. */
export function cacheRead<Value>(
  read: () => Promise<Value>,
  changes: Partial<typeof keeping> = {},
): () => Promise<CachedValue<Value>> {
  const { shortMs, timesKept, keptMaxMs, waitMs, hangMs, nowMs } = { ...keeping, ...changes }
  let last: { value: Value; at: number; dueAt: number } | null = null
  let running: { since: number; done: Promise<void> } | null = null
  const refresh = async (since: number): Promise<void> => {
    try {
      const value = await read()
      const now = nowMs()
      const tookMs = now - since
      const keptMs = tookMs <= shortMs ? 0 : Math.min(keptMaxMs, tookMs * timesKept)
      last = { value, at: since, dueAt: now + keptMs }
    } catch (error) {
      last = null
      throw error
    } finally {
      running = null
    }
  }
  const start = (since: number) => {
    const done = refresh(since)
    // By the time it fails, there may be no caller left to handle the error.
    done.catch(() => undefined)
    return { since, done }
  }
  return async () => {
    const asked = nowMs()
    if (last === null || asked >= last.dueAt) {
      running ??= start(asked)
      const left = Math.max(0, running.since + hangMs - asked)
      const longest = last === null ? left : Math.min(waitMs, left)
      await Promise.race([running.done, sleep(longest, undefined, { ref: false })])
      if (running !== null && nowMs() - running.since >= hangMs) last = null
    }
    if (last === null)
      throw new Fault('remote_failed', { what: 'reading', problem: `takes over ${hangMs} ms` })
    return { value: last.value, ageSeconds: Math.max(0, nowMs() - last.at) / 1000 }
  }
}
