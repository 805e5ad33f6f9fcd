import { subscribe } from 'node:diagnostics_channel'
import { type LoopDelays, watchLoop } from './loop-delays.ts'

// Loaded into the program's own processes before the program: it dies or stops where it is told to, has clocks that can be
// stepped, and tells how its event loop is held up. The program knows nothing of it.

/** What a process is told at its start, as JSON in `CHAOS`, and later as messages. */
export type Orders = {
  dieAt?: { failpoint: string; nth?: number }
  stopAt?: { failpoint: string; nth?: number }
  clockMs?: number
  /** That long passes at once, by the monotonic clock alone: the program may date by it what it does. */
  passMs?: number
  /** Begins, and ends with what was seen. */
  watchLoop?: boolean
  /** A number that stands in the answer, too. */
  asked?: number
}

export type Reported = { clockMs: number; loop?: LoopDelays; asked?: number }

const orders = JSON.parse(process.env.CHAOS ?? '{}') as Orders
let offsetMs = orders.clockMs ?? 0
const timesReached = new Map<string, number>()

subscribe('depositd.failpoint', (message) => {
  const name = String(message)
  const times = (timesReached.get(name) ?? 0) + 1
  timesReached.set(name, times)
  const isAt = (order: Orders['dieAt']) => order?.failpoint === name && (order.nth ?? 1) === times
  if (isAt(orders.dieAt)) process.kill(process.pid, 'SIGKILL')
  if (isAt(orders.stopAt)) process.kill(process.pid, 'SIGSTOP')
})

const RealDate = Date
const now = () => RealDate.now() + offsetMs

let passedMs = 0
const monotonic = performance.now.bind(performance)
performance.now = () => monotonic() + passedMs

globalThis.Date = new Proxy(RealDate, {
  construct: (target, words: [], created) =>
    Reflect.construct(target, words.length === 0 ? [now()] : words, created),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})

let stopWatching: (() => LoopDelays) | null = null

function loopSeen(isBegun: boolean): LoopDelays | undefined {
  const seen = stopWatching?.()
  stopWatching = isBegun ? watchLoop() : null
  return seen
}

process.on('message', ({ clockMs = offsetMs, passMs = 0, watchLoop: isBegun, asked }: Orders) => {
  offsetMs = clockMs
  passedMs += passMs
  const loop = isBegun === undefined ? undefined : loopSeen(isBegun)
  process.send?.({ clockMs: offsetMs, loop, asked })
})
// Nobody would ever end it.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.channel?.unref()
