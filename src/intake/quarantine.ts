import type { ServiceName } from '../core/evidence.ts'
import { createTokenBuckets } from '../http/token-buckets.ts'
import type { Refusal } from './signature/scheme.ts'

/** Not authenticated, not JSON, or not declared as JSON. `source` identifies the client. */
export type QuarantinedDelivery = {
  service: ServiceName
  receivedAt: Date
  source: string
  reason: Refusal | 'not_json' | 'wrong_type'
  headers: Record<string, string>
  body: Buffer
}

export const quarantineLimits = {
  /** Deliveries above a limit get the same answer and are not stored. */
  perSource: { perSecond: 20, burst: 500 },
  total: { perSecond: 100, burst: 2000 },
  waitingMax: 2000,
  waitingBytesMax: 32 * 1024 * 1024,
  /** Other requests are answered between the calls of the store. */
  storedBytesMax: 4 * 1024 * 1024,
  /** Bounds the database load of a flood. */
  everyMs: 500,
}

type QuarantineDeps = {
  store: (rows: readonly QuarantinedDelivery[]) => Promise<void>
  limits: typeof quarantineLimits
  /** `rate`: its client or all together sent too many. `full`: too much waits for the database. */
  onDropped: (reason: 'rate' | 'full') => void
  /** The rows keep waiting. */
  onError: (error: unknown) => void
}

export type Quarantine = {
  /** The sender does not wait for it. */
  keep: (delivery: QuarantinedDelivery) => void
  stop: () => Promise<void>
}

/** Batches, so that refused deliveries cannot slow down genuine ones. */
export function createQuarantine({ store, limits, onDropped, onError }: QuarantineDeps): Quarantine {
  const perSource = createTokenBuckets(limits.perSource)
  const total = createTokenBuckets(limits.total)
  const isAllowed = ({ source, receivedAt }: QuarantinedDelivery) =>
    perSource.take(source, receivedAt.getTime()).allowed && total.take('', receivedAt.getTime()).allowed
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

  /** One flush at a time; the next one takes the remaining rows. */
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

function firstWithin(rows: readonly QuarantinedDelivery[], bytesMax: number): QuarantinedDelivery[] {
  let bytes = 0
  const end = rows.findIndex(({ body }, place) => (bytes += body.length) > bytesMax && place > 0)
  return rows.slice(0, end === -1 ? rows.length : end)
}

function bodyBytes(rows: readonly QuarantinedDelivery[]): number {
  return rows.reduce((bytes, { body }) => bytes + body.length, 0)
}
