import type { EndpointAnswer } from './post-webhook.ts'

/** What becomes of a delivery after an attempt. */
export type DeliveryStep =
  | { kind: 'delivered' }
  /** `restUntil`: the receiver is busy and asks for a pause, so nothing else is sent to it before that either. */
  | { kind: 'retry'; at: Date; restUntil: Date | null }
  /** The schedule is at its end. */
  | { kind: 'failed' }
  /** The receiver wants no webhooks any more. */
  | { kind: 'gone' }

const [minute, hour] = [60, 3600]

/** The pause after each try that failed, in seconds: quick at first, and a little more than three days in sum. */
const pausesSeconds = [
  1,
  5,
  15,
  30,
  minute,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
]

export const triesMax = pausesSeconds.length + 1

const retryAfterMaxMs = hour * 1000

/** `tries` counts those since the delivery was asked for, with the one at hand. */
export type DeliveryAttemptResult = { answer: EndpointAnswer; tries: number; now: Date; random: () => number }

export function decideDelivery(attempted: DeliveryAttemptResult): DeliveryStep {
  const { answer, now } = attempted
  if (answer.kind === 'unanswered') {
    // What the service broke off itself is no try of the endpoint.
    return answer.problem === 'stopped'
      ? { kind: 'retry', at: now, restUntil: null }
      : decideRetry(attempted, 0, false)
  }
  const { status, retryAfter } = answer
  if (status >= 200 && status < 300) return { kind: 'delivered' }
  if (status === 410) return { kind: 'gone' }
  return decideRetry(attempted, readRetryAfter(retryAfter, now), status === 429 || status === 503)
}

/** Pauses are spread by a fifth, so that a crowd does not come back at once. */
function decideRetry(
  { tries, now, random }: DeliveryAttemptResult,
  askedMs: number,
  busy: boolean,
): DeliveryStep {
  const pauseSeconds = pausesSeconds[tries - 1]
  if (pauseSeconds === undefined) return { kind: 'failed' }
  const pauseMs = pauseSeconds * 1000 * (0.8 + 0.4 * random())
  const at = new Date(now.getTime() + Math.max(pauseMs, askedMs))
  const restUntil = busy && askedMs > 0 ? new Date(now.getTime() + askedMs) : null
  return { kind: 'retry', at, restUntil }
}

/** Seconds or a date (RFC 9110, 10.2.3); what cannot be read asks for nothing, and nobody asks for more than an hour. */
function readRetryAfter(text: string | null, now: Date): number {
  if (text === null) return 0
  const askedMs = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now.getTime()
  return Math.max(0, Math.min(retryAfterMaxMs, Number.isNaN(askedMs) ? 0 : askedMs))
}
