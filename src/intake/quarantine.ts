import { createAllowance } from './allowance.ts'
import type { Refusal } from './signature/scheme.ts'

/** A delivery that was not believed, or is no JSON or does not say that it is, as it is kept. `source` names the client. */
export type Quarantined = {
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
  everyMs: 500,
}

type Settings = {
  store: (rows: readonly Quarantined[]) => Promise<void>
  limits: QuarantineLimits
  /** A delivery was not kept: its client, or all together, sent too many; or too much waits for the database. */
  onDropped: (reason: 'rate' | 'full') => void
  /** What kept rows from being stored; they go on waiting. */
  onError: (error: unknown) => void
}

export type Quarantine = {
  /** Takes a delivery, or drops it where it is one too many. The sender does not wait for it. */
  keep: (delivery: Quarantined) => void
  /** Stores what waits. */
  stop: () => Promise<void>
}

/** Collects what was refused and stores it now and then: nobody may slow down what is genuine with it. */
export function createQuarantine({ store, limits, onDropped, onError }: Settings): Quarantine {
  const { perSourcePerSecond, perSourceAtOnce, perSecond, atOnce, sourcesMax } = limits
  const ofSource = createAllowance({
    perSecond: perSourcePerSecond,
    atOnce: perSourceAtOnce,
    namesMax: sourcesMax,
  })
  const ofAll = createAllowance({ perSecond, atOnce, namesMax: 1 })
  const waiting: Quarantined[] = []
  let waitingBytes = 0
  let timer: NodeJS.Timeout | null = null
  let flushing: Promise<void> = Promise.resolve()

  async function flush(): Promise<void> {
    const rows = waiting.slice()
    try {
      if (rows.length > 0) await store(rows)
      waiting.splice(0, rows.length)
      waitingBytes = bodyBytes(waiting)
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
      const now = delivery.receivedAt.getTime()
      if (!ofSource(delivery.source, now) || !ofAll('', now)) return onDropped('rate')
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

function bodyBytes(rows: readonly Quarantined[]): number {
  return rows.reduce((bytes, { body }) => bytes + body.length, 0)
}
