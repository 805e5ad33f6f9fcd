/** Says when a service that keeps failing, or that asks for it, is left alone. */
export type Breaker = {
  /** Until when nothing is to be sent; null where something may be. */
  heldUntil: () => Date | null
  /** Whether the next call is the first after failures: it is a trial, and one request is enough for it. */
  isTrial: () => boolean
  succeeded: () => void
  failed: () => void
  /** The service asked to be left alone for that long. */
  hold: (milliseconds: number) => void
}

/** So many failures in a row, and it rests. */
const failuresMax = 5
const restMs = 30_000
/** The longest rest, whoever asks for it: a `Retry-After` of a day must not stop the reading for a day. */
const restMaxMs = 300_000

export function createBreaker(now: () => Date): Breaker {
  let failures = 0
  let until = 0
  const hold = (milliseconds: number) => {
    until = Math.max(until, now().getTime() + Math.min(milliseconds, restMaxMs))
  }
  return {
    heldUntil: () => (until > now().getTime() ? new Date(until) : null),
    isTrial: () => failures >= failuresMax,
    succeeded() {
      failures = 0
    },
    failed() {
      failures++
      if (failures >= failuresMax) hold(restMs * 2 ** Math.min(failures - failuresMax, 10))
    },
    hold,
  }
}
