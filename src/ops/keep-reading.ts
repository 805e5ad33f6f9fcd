import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../core/errors.ts'

export type CachedValue<Value> = { value: Value; ageSeconds: number }

export type ReadingCacheOptions = {
  /** What takes no longer than this to read is read for everybody who asks. */
  shortMs: number
  /** What takes longer is used again for so many times as long as it took: reading it takes no greater share of time. */
  timesKept: number
  /** But no longer than this, however slow the machine was just then. */
  keptMaxMs: number
  /** Who asks for what is being read anew is given what was read before after this long. */
  waitMs: number
  /** A reading that takes longer is taken for one that hangs: what was read before is not told any more. */
  hangMs: number
  nowMs: () => number
}

const keeping: ReadingCacheOptions = {
  shortMs: 30,
  timesKept: 100,
  keptMaxMs: 60_000,
  waitMs: 25,
  hangMs: 5000,
  nowMs: () => performance.now(),
}

/**
 * Makes what reads once for all who ask, and anew only once that is due. Cost and time are bounded by this however much
 * there is to be read.
 */
export function keepReading<Value>(
  read: () => Promise<Value>,
  changes: Partial<ReadingCacheOptions> = {},
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
    // Nobody may be waiting for it by then.
    done.catch(() => undefined)
    return { since, done }
  }
  return async () => {
    const asked = nowMs()
    if (last === null || asked >= last.dueAt) {
      running ??= start(asked)
      const left = Math.max(0, running.since + hangMs - asked)
      await within(running.done, last === null ? left : Math.min(waitMs, left))
      if (running !== null && nowMs() - running.since >= hangMs) last = null
    }
    if (last === null)
      throw new Fault('remote_failed', { what: 'reading', problem: `takes over ${hangMs} ms` })
    return { value: last.value, ageSeconds: Math.max(0, nowMs() - last.at) / 1000 }
  }
}

/** Waits no longer than that. */
async function within(done: Promise<void>, ms: number): Promise<void> {
  const giveUp = new AbortController()
  try {
    await Promise.race([done, sleep(ms, undefined, { signal: giveUp.signal })])
  } finally {
    giveUp.abort()
  }
}
