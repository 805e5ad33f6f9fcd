import type { Clock } from '../../src/chain/pace.ts'

/** A clock that stands still until told to go on, and then jumps from one end of a wait to the next. */
export type VirtualClock = Clock & {
  /** Lets time pass until the work is done. Fails where it waits for something that no time brings. */
  runUntil<Result>(work: Promise<Result>): Promise<Result>
}

export function createVirtualClock(): VirtualClock {
  let nowMs = 0
  let waits: { untilMs: number; end: () => void }[] = []
  const clock: Clock = {
    nowMs: () => nowMs,
    wait: (ms) =>
      new Promise((resolve) => {
        waits.push({ untilMs: nowMs + ms, end: resolve })
      }),
  }
  return {
    ...clock,
    async runUntil(work) {
      let isDone = false
      const mark = () => {
        isDone = true
      }
      work.then(mark, mark)
      for (;;) {
        // Whatever needs no time happens first.
        await new Promise((resolve) => setImmediate(resolve))
        if (isDone) return work
        const [next] = waits.toSorted((one, other) => one.untilMs - other.untilMs)
        if (next === undefined) throw new Error(`nothing is waited for at ${nowMs} ms`)
        waits = waits.filter((one) => one !== next)
        nowMs = next.untilMs
        next.end()
      }
    },
  }
}
