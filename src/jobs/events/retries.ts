import { readRetryAfter } from '../../http/retry-after.ts'
import type { EndpointAnswer } from '../../outbox/post-webhook.ts'
import type { DueEvent, EndedDelivery, EndpointHealth } from '../../store/event-deliveries.ts'

const [minute, hour, day] = [60, 3600, 86_400]

/** In seconds, after each failed attempt; the last one repeats. */
const pausesSeconds = [1, 5, 15, 30, minute, 5 * minute, 15 * minute, 30 * minute, hour]

/** An endpoint that fails is tried with one event at a time, at least this often. */
const restMaxSeconds = 5 * minute

/** After this time, the endpoint pauses: to go on without the event would break the order. */
const undeliveredMaxMs = 3 * day * 1000

const retryAfterMaxMs = hour * 1000

/** Per endpoint: attempts at a time, and events that are taken at once to be sent in turn. */
export const concurrentMax = 16
export const heldMax = 256

export type EventOutcome = 'delivered' | 'refused' | 'unanswered'

export function outcomeOf(answer: EndpointAnswer): EventOutcome {
  if (answer.kind === 'unanswered') return 'unanswered'
  return answer.status >= 200 && answer.status < 300 ? 'delivered' : 'refused'
}

export type SentEvent = {
  due: Pick<DueEvent, 'delivery' | 'sequence' | 'tries' | 'failingSince'>
  answer: EndpointAnswer
  beganAt: Date
  /** When it ended. */
  at: Date
  durationMs: number
}

/** What attempts come to, in the order in which they ended. */
export type SettledAttempts = {
  ended: EndedDelivery[]
  health: EndpointHealth
  /** The endpoint works again, after failing from then on. */
  recoveredSince: Date | null
  /** It pauses. */
  stop: 'gone' | 'undelivered' | null
}

export function settleAttempts(
  before: EndpointHealth,
  sent: readonly SentEvent[],
  random: () => number,
): SettledAttempts {
  const settled: SettledAttempts = { ended: [], health: before, recoveredSince: null, stop: null }
  for (const { due, answer, beganAt, at } of sent) {
    const { delivery, tries } = due
    if (outcomeOf(answer) === 'delivered') {
      settled.recoveredSince ??= settled.health.failing_since
      settled.health = healthy
      settled.ended.push({ delivery, next: null })
      continue
    }
    const failingSince = due.failingSince ?? at
    settled.health = failedHealth(settled.health, answer, { beganAt, at })
    settled.ended.push({
      delivery,
      next: { at: retryAt(tries + 1, at, random()), tries: tries + 1, failingSince },
    })
    settled.stop ??= stopReason(answer, at, [failingSince, settled.health.failing_since ?? at])
  }
  return settled
}

/** The event, or every event, has failed since one of these times. */
function stopReason(answer: EndpointAnswer, at: Date, since: readonly Date[]): SettledAttempts['stop'] {
  if (answer.kind === 'answered' && answer.status === 410) return 'gone'
  return since.some((one) => at.getTime() - one.getTime() >= undeliveredMaxMs) ? 'undelivered' : null
}

/** Events that may be taken beside those that are held. */
export function roomOf({ failures, rest_until: until }: EndpointHealth, now: Date, held: number): number {
  if (until !== null && until > now) return 0
  return Math.max(0, (failures > 0 ? 1 : heldMax) - held)
}

/** `tries`: failed attempts, with this one. With 20% jitter, so that retries do not arrive all at once. */
function retryAt(tries: number, at: Date, random: number): Date {
  const pause = pausesSeconds[Math.min(tries, pausesSeconds.length) - 1] ?? hour
  return later(at, pause * 1000 * (0.8 + 0.4 * random))
}

const healthy: EndpointHealth = { failures: 0, failing_since: null, rest_until: null }

/** After a failed attempt, with any event. Those that were under way at a failure are of the same one. */
function failedHealth(
  { failures: before, failing_since: since, rest_until: until }: EndpointHealth,
  answer: EndpointAnswer,
  { beganAt, at }: Pick<SentEvent, 'beganAt' | 'at'>,
): EndpointHealth {
  const isSame = until !== null && beganAt < until
  const failures = isSame ? before - 1 : before
  const pause = pausesSeconds[Math.min(failures, pausesSeconds.length - 1)] ?? restMaxSeconds
  const restMs = Math.max(Math.min(pause, restMaxSeconds) * 1000, requestedRestMs(answer, at))
  const rested = later(at, restMs)
  return {
    failures: failures + 1,
    failing_since: since ?? at,
    rest_until: isSame && until > rested ? until : rested,
  }
}

/** A receiver that is busy may ask for a pause, of at most an hour. */
function requestedRestMs(answer: EndpointAnswer, at: Date): number {
  if (answer.kind !== 'answered' || (answer.status !== 429 && answer.status !== 503)) return 0
  return Math.min(readRetryAfter(answer.retryAfter, at) ?? 0, retryAfterMaxMs)
}

function later(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms)
}
