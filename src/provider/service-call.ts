import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../core/errors.ts'
import { type HttpRequest, type HttpResult, sendRequest } from './http-call.ts'

export type ProviderSettings = {
  /** Every path is relative to it. */
  url: string
  apiKey: string
  /** How long one request may take, its answer included. */
  timeoutMs?: number
  /** How often a read is tried before it has failed. */
  attemptsMax?: number
}

/** How one request ended, for metrics. `withheld`: it was not sent, since the service is left alone. */
export type ProviderOutcome = 'ok' | 'refused' | 'limited' | 'failed' | 'withheld'

/** Time and chance, for tests to take in hand. */
export type Pace = {
  now: () => Date
  random: () => number
  wait: (milliseconds: number) => Promise<unknown>
}

export type ServiceAnswer = Extract<HttpResult, { kind: 'answered' | 'refused' }>

/**
 * Asks the service, patiently: a read that fails or is limited is tried again, and a service that keeps failing is left
 * alone for a while. What it refuses is a value.
 * @throws Fault `remote_failed` that says what the service answered
 */
export type ServiceCall = (request: HttpRequest) => Promise<ServiceAnswer>

const timeoutDefaultMs = 15_000
const attemptsDefault = 3
const backoffMs = 500
/** A service that asks for a longer wait is left alone for so long instead, and the call has failed. */
const waitMaxMs = 10_000

export function createServiceCall(
  { url, apiKey, timeoutMs = timeoutDefaultMs, attemptsMax = attemptsDefault }: ProviderSettings,
  observe: (outcome: ProviderOutcome) => void = () => undefined,
  pace: Pace = { now: () => new Date(), random: Math.random, wait: sleep },
): ServiceCall {
  const breaker = createBreaker(pace.now)
  const attempt = async (request: HttpRequest): Promise<HttpResult> => {
    const result = await sendRequest({ url, apiKey, timeoutMs }, request, pace.now)
    observe(result.kind === 'answered' ? 'ok' : result.kind)
    return result
  }
  return async (request) => {
    const heldUntil = breaker.heldUntil()
    if (heldUntil !== null) {
      observe('withheld')
      throw failure(request, `is left alone until ${heldUntil.toISOString()}: it failed, or asked for it`)
    }
    // What creates something is not sent twice: it may have been done although no answer came.
    const attempts = request.method === 'GET' && !breaker.isTrial() ? attemptsMax : 1
    for (let count = 1; ; count++) {
      const result = await attempt(request)
      if (result.kind === 'answered' || result.kind === 'refused') {
        breaker.succeeded()
        return result
      }
      const waitMs = waitBefore(count, result.retryAfterMs, pace.random())
      if (waitMs > waitMaxMs) breaker.hold(waitMs)
      if (waitMs > waitMaxMs || count >= attempts) {
        breaker.failed()
        throw failure(request, result.problem)
      }
      await pace.wait(waitMs)
    }
  }
}

/** Names the call without its query, which may hold what nobody wants to read. */
export function failure(
  { method, path }: HttpRequest,
  problem: string,
  help?: string,
): Fault<'remote_failed'> {
  const what = `${method} ${path.replace(/\?.*/, '')}`
  return new Fault('remote_failed', { what, problem, ...(help !== undefined && { help }) })
}

/** Longer from time to time, scattered so that not all callers come back at once, and never shorter than asked for. */
function waitBefore(attempt: number, retryAfterMs: number | null, random: number): number {
  const backoff = backoffMs * 2 ** (attempt - 1) * (0.5 + random / 2)
  return Math.max(backoff, retryAfterMs ?? 0)
}

/** Says when a service that keeps failing, or that asks for it, is left alone. */
type Breaker = {
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

function createBreaker(now: () => Date): Breaker {
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
