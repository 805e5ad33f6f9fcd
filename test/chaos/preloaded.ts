import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { LoopDelays } from './loop-delays.ts'
import type { Orders, Reported } from './preload.ts'

const preload = pathToFileURL(join(import.meta.dirname, 'preload.ts')).href

/** By which a process of the program, with a channel to this one, takes orders. */
export function preloaded(orders: Orders = {}): Record<string, string> {
  return { NODE_OPTIONS: `--import=${preload}`, CHAOS: JSON.stringify(orders) }
}

/** Returns once it shows the time, which one that has ended never does. */
export async function setClock(child: ChildProcess, clockMs: number): Promise<void> {
  await report(child, { clockMs })
}

/** Returns once that long has passed by its monotonic clock. */
export async function passTime(child: ChildProcess, passMs: number): Promise<void> {
  await report(child, { passMs })
}

/** Has a process watch its event loop until what is returned is called. @throws where it has ended */
export async function watchLoop(child: ChildProcess): Promise<() => Promise<LoopDelays>> {
  await report(child, { watchLoop: true })
  return async () => {
    const loop = (await report(child, { watchLoop: false }))?.loop
    if (loop === undefined) throw new Error('the process ended while its event loop was watched')
    return loop
  }
}

let asked = 0

/** Null from one that has ended. */
async function report(child: ChildProcess, orders: Orders): Promise<Reported | null> {
  if (child.exitCode !== null || child.signalCode !== null || !child.connected) return null
  const number = ++asked
  const over = new AbortController()
  const { signal } = over
  const heard = new Promise<Reported>((resolve) => {
    const listen = (reported: Reported) => {
      if (reported.asked === number) resolve(reported)
    }
    child.on('message', listen)
    signal.addEventListener('abort', () => child.off('message', listen))
  })
  const ended = once(child, 'close', { signal }).then(
    () => null,
    () => null,
  )
  child.send({ ...orders, asked: number } satisfies Orders, () => undefined)
  try {
    return await Promise.race([heard, ended])
  } finally {
    over.abort()
  }
}
