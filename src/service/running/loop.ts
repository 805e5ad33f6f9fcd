import type { Logger } from 'pino'
import { logEvent } from '../../log/log-event.ts'
import { describeError } from './describe-error.ts'

export type Loop = {
  /** Starts the next turn immediately. */
  wake(): void
  /** Aborts the current turn and resolves when it has ended. */
  stop(): Promise<void>
}

type LoopSettings = { name: string; everyMs: number; log: Logger }

type LoopTurn = (stopping: AbortSignal) => Promise<boolean>

const failuresCounted = 10
const pauseMaxMs = 10_000

/**
 * Runs turns repeatedly: immediately if more work is waiting, else after `everyMs`, with growing pauses after
 * consecutive failures. A failed turn leaves its work to the next one.
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

/** Waits for a time or for `end`, including an `end` since the last wait. */
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
