import { setInterval } from 'node:timers'
import { runTimes } from './hostile/schedule-statistics.ts'

/** By how much an event loop came late to a timer, in milliseconds, without what the machine gave to other processes. */
export type LoopDelays = { maxMs: number; p99Ms: number; looks: number }

const lookEveryMs = 10

/** Looks at the event loop of this process until what it returns is called. */
export function watchLoop(): () => LoopDelays {
  const delays: number[] = []
  let [last, waited] = [performance.now(), runTimes(process.pid).waited]
  const look = () => {
    const [now, waitedNow] = [performance.now(), runTimes(process.pid).waited]
    delays.push(Math.max(0, now - last - lookEveryMs - (waitedNow - waited) / 1e6))
    ;[last, waited] = [now, waitedNow]
  }
  const looking = setInterval(look, lookEveryMs).unref()
  return () => {
    clearInterval(looking)
    // What holds the loop up until now is a delay, too.
    look()
    const sorted = delays.toSorted((one, other) => one - other)
    const at = (place: number) => Math.round(sorted.at(place) ?? 0)
    return { maxMs: at(-1), p99Ms: at(Math.ceil(sorted.length * 0.99) - 1), looks: sorted.length }
  }
}
