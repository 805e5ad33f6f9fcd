import type { Logger } from 'pino'
import { logEvent } from '../../log/log-event.ts'
import { describeError } from './requests.ts'

export type Loop = {
  wake(): void
  /** Aborts the current turn. */
  stop(): Promise<void>
}

type LoopSettings = { name: string; everyMs: number; log: Logger }

type LoopTurn = (stopping: AbortSignal) => Promise<boolean>

const failuresCounted = 10
const pauseMaxMs = 10_000

/**
 * Runs at once if more work is waiting, else after `everyMs`, with growing pauses after consecutive failures. A failed
 * turn leaves its work to the next one.
 */
export function startLoop({ name, everyMs, log }: LoopSettings, work: LoopTurn): Loop {
  const stopping = new AbortController()
  const pause = createPause()
  let failures = 0

  const turn = async (): Promise<boolean> => {
    try {
      const more = await work(stopping.signal)
      failures = 0
      return more
    } catch (error) {
      failures = Math.min(failures + 1, failuresCounted)
      logEvent(log, 'service_loop_failed', { loop: name, problem: describeError(error) })
      return false
    }
  }
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const more = await turn()
      if (!more) await pause.wait(Math.max(everyMs, Math.min(pauseMaxMs, everyMs * 2 ** failures)))
    }
  }
  const running = run()
  return {
    wake: pause.end,
    stop: () => {
      stopping.abort()
      pause.end()
      return running
    },
  }
}

/** Waits for a time or `end`, including an `end` since the last wait. */
function createPause() {
  let ended = Promise.withResolvers<void>()
  return {
    end: () => ended.resolve(),
    wait: async (timeMs: number) => {
      const timer = setTimeout(ended.resolve, timeMs)
      await ended.promise
      clearTimeout(timer)
      ended = Promise.withResolvers<void>()
    },
  }
}

/** Failed items must not block the others. */
export type RetryBackoff = {
  waiting(): string[]
  delay(id: string, pauseMs: number): void
  /** Returns the number of consecutive failures. */
  failed(id: string): number
  done(id: string): void
}

const backoffMinMs = 2000
const backoffMaxMs = 300_000

export function createRetryBackoff(now: () => number): RetryBackoff {
  const entries = new Map<string, { failures: number; dueAt: number }>()
  const delay = (id: string, pauseMs: number, failures: number): void => {
    entries.set(id, { failures, dueAt: now() + pauseMs })
  }
  return {
    waiting: () => [...entries].filter(([, { dueAt }]) => dueAt > now()).map(([id]) => id),
    delay: (id, pauseMs) => delay(id, pauseMs, 0),
    failed: (id) => {
      const failures = (entries.get(id)?.failures ?? 0) + 1
      delay(id, Math.min(backoffMaxMs, backoffMinMs * 2 ** Math.min(failures - 1, 20)), failures)
      return failures
    },
    done: (id) => entries.delete(id),
  }
}
