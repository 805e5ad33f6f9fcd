import { createAllowance } from './allowance.ts'
import type { Refusal } from './signature/scheme.ts'

/** A delivery that was not believed, or is no JSON or does not say that it is, as it is kept. `source` names the client. */
export type QuarantinedDelivery = {
  receivedAt: Date
  source: string
  reason: Refusal | 'not_json' | 'wrong_type'
  headers: Record<string, string>
  body: Buffer
}

export type QuarantineLimits = {
  /** Of one client, and of all together; what goes beyond is answered like the rest and not kept. */
  perSourcePerSecond: number
  perSourceAtOnce: number
  perSecond: number
  atOnce: number
  sourcesMax: number
  /** What may wait for the next commit. */
  waitingMax: number
  waitingBytesMax: number
  /** What is handed on at once, so that other requests are answered in between: so many bytes of bodies, or one row. */
  storedBytesMax: number
  /** Time between two commits, so that a flood costs the database little. */
  everyMs: number
}

export const quarantineLimits: QuarantineLimits = {
  perSourcePerSecond: 20,
  perSourceAtOnce: 500,
  perSecond: 100,
  atOnce: 2000,
  sourcesMax: 10_000,
  waitingMax: 2000,
  waitingBytesMax: 32 * 1024 * 1024,
  storedBytesMax: 4 * 1024 * 1024,
  everyMs: 500,
}

type QuarantineDeps = {
  store: (rows: readonly QuarantinedDelivery[]) => Promise<void>
  limits: QuarantineLimits
  /** A delivery was not kept: its client, or all together, sent too many; or too much waits for the database. */
  onDropped: (reason: 'rate' | 'full') => void
  /** What kept rows from being stored; they go on waiting. */
  onError: (error: unknown) => void
}

export type Quarantine = {
  /** Takes a delivery, or drops it where it is one too many. The sender does not wait for it. */
  keep: (delivery: QuarantinedDelivery) => void
  /** Stores what waits. */
  stop: () => Promise<void>
}

/** Collects what was refused and stores it now and then: nobody may slow down what is genuine with it. */
export function createQuarantine({ store, limits, onDropped, onError }: QuarantineDeps): Quarantine {
  const isAllowed = allowDeliveries(limits)
  const waiting: QuarantinedDelivery[] = []
  let waitingBytes = 0
  let timer: NodeJS.Timeout | null = null
  let flushing: Promise<void> = Promise.resolve()

  async function flush(): Promise<void> {
    try {
      for (let left = waiting.length; left > 0; ) {
        const rows = firstWithin(waiting, limits.storedBytesMax)
        await store(rows)
        waiting.splice(0, rows.length)
        waitingBytes = bodyBytes(waiting)
        left -= rows.length
      }
    } catch (error) {
      onError(error)
    }
  }

  /** One flush at a time; what a flush leaves is for the next. */
  function flushLater(): void {
    if (timer !== null) return
    timer = setTimeout(() => {
      timer = null
      flushing = flushing.then(flush).then(() => (waiting.length > 0 ? flushLater() : undefined))
    }, limits.everyMs).unref()
  }

  return {
    keep(delivery) {
      if (!isAllowed(delivery)) return onDropped('rate')
      const bytes = waitingBytes + delivery.body.length
      if (waiting.length >= limits.waitingMax || bytes > limits.waitingBytesMax) return onDropped('full')
      waiting.push(delivery)
      waitingBytes = bytes
      flushLater()
    },
    async stop() {
      flushing = flushing.then(flush)
      await flushing
      if (timer !== null) clearTimeout(timer)
    },
  }
}

function allowDeliveries(limits: QuarantineLimits): (delivery: QuarantinedDelivery) => boolean {
  const { perSourcePerSecond, perSourceAtOnce, perSecond, atOnce, sourcesMax } = limits
  const ofSource = createAllowance({
    perSecond: perSourcePerSecond,
    atOnce: perSourceAtOnce,
    namesMax: sourcesMax,
  })
  const ofAll = createAllowance({ perSecond, atOnce, namesMax: 1 })
  return ({ source, receivedAt }) => {
    const now = receivedAt.getTime()
    return ofSource(source, now) && ofAll('', now)
  }
}

function firstWithin(rows: readonly QuarantinedDelivery[], bytesMax: number): QuarantinedDelivery[] {
  let bytes = 0
  const end = rows.findIndex(({ body }, place) => (bytes += body.length) > bytesMax && place > 0)
  return rows.slice(0, end === -1 ? rows.length : end)
}

function bodyBytes(rows: readonly QuarantinedDelivery[]): number {
  return rows.reduce((bytes, { body }) => bytes + body.length, 0)
}
