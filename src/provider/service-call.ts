import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../core/errors.ts'
import { type HttpRequest, type HttpResult, sendRequest } from './http-call.ts'

export type ProviderSettings = {
  /** Base of every path. */
  url: string
  apiKey: string
  /** Time limit of one request, including its answer. */
  timeoutMs?: number
  /** Maximum attempts of a read. */
  attemptsMax?: number
}

/** Result of one request, for metrics. `withheld`: not sent, because the circuit breaker is open. */
export type ProviderOutcome = 'ok' | 'refused' | 'limited' | 'failed' | 'withheld'

/** Clock, randomness and delays, replaceable in tests. */
export type Pace = {
  now: () => Date
  random: () => number
  wait: (milliseconds: number) => Promise<unknown>
}

export type ServiceAnswer = Extract<HttpResult, { kind: 'answered' | 'refused' }>

/**
 * Calls the service with retries: a failed or rate-limited read is repeated, and a circuit breaker pauses calls to a
 * service that keeps failing. A refusal is returned as a value.
 * @throws Fault `remote_failed` with the answer of the service
 */
export type ServiceCall = (request: HttpRequest) => Promise<ServiceAnswer>

const timeoutDefaultMs = 15_000
const attemptsDefault = 3
const backoffMs = 500
/** If the service requests a longer wait, the call fails and the breaker opens for that time. */
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
    // A creation is not repeated: it may have succeeded although no answer arrived.
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

/** Names the call without its query, which may contain unreadable or private values. */
export function failure(
  { method, path }: HttpRequest,
  problem: string,
  help?: string,
): Fault<'remote_failed'> {
  const what = `${method} ${path.replace(/\?.*/, '')}`
  return new Fault('remote_failed', { what, problem, ...(help !== undefined && { help }) })
}

/** Exponential backoff with jitter, so that callers do not return at once, and never shorter than requested. */
function waitBefore(attempt: number, retryAfterMs: number | null, random: number): number {
  const backoff = backoffMs * 2 ** (attempt - 1) * (0.5 + random / 2)
  return Math.max(backoff, retryAfterMs ?? 0)
}

/** The circuit breaker: decides when calls to a failing service pause. */
type Breaker = {
  /** End of the pause; null if calls are allowed. */
  heldUntil: () => Date | null
  /** Whether the next call is the first after repeated failures. It is a trial with one request. */
  isTrial: () => boolean
  succeeded: () => void
  failed: () => void
  /** Opens the breaker for a time that the service requested. */
  hold: (milliseconds: number) => void
}

/** Consecutive failures that open the breaker. */
const failuresMax = 5
const restMs = 30_000
/** Maximum pause: a `Retry-After` of a day must not stop reading for a day. */
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
