import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceAuth } from '../config/service-auth.ts'
import { Fault, messageOf } from '../core/errors.ts'
import { readResponse } from '../http/read-response.ts'
import { readRetryAfter } from '../http/retry-after.ts'
import { type Authorization, type Authorize, createAuthorize, type UnprovedRequest } from './authorize.ts'
import { parseLossless } from './lossless-json.ts'

export type ProviderSettings = {
  /** Base of every path. */
  url: string
  auth: ServiceAuth
  timeoutMs?: number
  attemptsMax?: number
}

/** `withheld`: not sent, because the circuit breaker is open. */
export type ProviderOutcome = 'ok' | 'refused' | 'limited' | 'failed' | 'withheld'

/** Replaceable in tests. */
export type Pace = {
  now: () => Date
  random: () => number
  wait: (milliseconds: number) => Promise<unknown>
}

export type ServiceAnswer = Extract<HttpResult, { kind: 'answered' | 'refused' }>

/**
 * Repeats a failed or rate-limited read; a circuit breaker pauses calls to a service that keeps failing. A
 * refusal is a value.
 * @throws Fault `remote_failed` with the answer of the service
 */
export type ServiceCall = (request: HttpRequest) => Promise<ServiceAnswer>

const timeoutDefaultMs = 15_000
const attemptsDefault = 3
const backoffMs = 500
/** If the service requests a longer wait, the call fails and the breaker opens for that time. */
const waitMaxMs = 10_000

export function createServiceCall(
  { url, auth, timeoutMs = timeoutDefaultMs, attemptsMax = attemptsDefault }: ProviderSettings,
  observe: (outcome: ProviderOutcome) => void = () => undefined,
  pace: Pace = { now: () => new Date(), random: Math.random, wait: sleep },
): ServiceCall {
  const breaker = createBreaker(pace.now)
  const service = { url, timeoutMs, authorize: createAuthorize(auth, pace.now) }
  const attempt = async (request: HttpRequest): Promise<HttpResult> => {
    const result = await sendRequest(service, request, pace.now)
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

/** Without the query, which may contain unreadable or private values. */
export function failure(
  { method, path }: HttpRequest,
  problem: string,
  more: Pick<Fault<'remote_failed'>['details'], 'help' | 'isLasting'> = {},
): Fault<'remote_failed'> {
  return new Fault('remote_failed', { what: `${method} ${path.replace(/\?.*/, '')}`, problem, ...more })
}

/** Exponential, with jitter so that callers do not return at once, and never shorter than requested. */
function waitBefore(attempt: number, retryAfterMs: number | null, random: number): number {
  const backoff = backoffMs * 2 ** (attempt - 1) * (0.5 + random / 2)
  return Math.max(backoff, retryAfterMs ?? 0)
}

/** Consecutive failures that open the breaker. */
const failuresMax = 5
const restMs = 30_000
/** A `Retry-After` of a day must not stop reading for a day. */
const restMaxMs = 300_000

function createBreaker(now: () => Date) {
  let failures = 0
  let until = 0
  const hold = (milliseconds: number) => {
    until = Math.max(until, now().getTime() + Math.min(milliseconds, restMaxMs))
  }
  return {
    /** Null if calls are allowed. */
    heldUntil: () => (until > now().getTime() ? new Date(until) : null),
    /** The first call after repeated failures is a trial with one request. */
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

type HttpSettings = { url: string; timeoutMs: number; authorize: Authorize }

/** `path` may include a query. */
export type HttpRequest = { method: 'GET' | 'POST'; path: string; body?: object }

type HttpResult =
  | { kind: 'answered'; body: unknown; link: string | null }
  /** A repeated request would get the same answer. */
  | { kind: 'refused'; status: number; problem: string }
  /** A later request may succeed. */
  | { kind: 'limited' | 'failed'; problem: string; retryAfterMs: number | null }

const answerBytesMax = 16 * 1024 * 1024

/** Problems never contain what authorizes the request, or a password in the URL. */
async function sendRequest(
  service: HttpSettings,
  request: HttpRequest,
  now: () => Date,
): Promise<HttpResult> {
  const secrets = [new URL(service.url).password]
  const shown = (text: string) => withoutSecrets(text, secrets)
  try {
    const text = request.body && JSON.stringify(request.body)
    const unproved = { method: request.method, url: urlOf(service, request.path), body: text ?? '' }
    const authorization = await service.authorize(unproved)
    secrets.push(...authorization.secrets)
    const response = await send(unproved, authorization, service.timeoutMs)
    const bounds = { bytesMax: answerBytesMax, problem: 'the answer is too large' }
    const answer = (await readResponse(response, bounds)).toString()
    if (response.ok)
      return { kind: 'answered', body: readJson(answer, shown), link: response.headers.get('link') }
    // Masks before truncating, so that no part of a secret remains.
    return complaintOf(response, `${response.status} ${shown(answer).slice(0, 300)}`, now())
  } catch (error) {
    // Leaves out the cause: errors of fetch repeat headers and URLs.
    return { kind: 'failed', problem: shown(problemOf(error)), retryAfterMs: null }
  }
}

function urlOf({ url }: { url: string }, path: string): URL {
  return new URL(url.replace(/\/*$/, () => path))
}

function send(
  { method, url, body }: UnprovedRequest,
  { headers }: Pick<Authorization, 'headers'>,
  timeoutMs: number,
) {
  return fetch(url, {
    method,
    headers: {
      ...headers,
      accept: 'application/json',
      ...(body !== '' && { 'content-type': 'application/json' }),
    },
    ...(body !== '' && { body }),
    // A redirect could send the key to another host.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
}

/** A proxy in front of the service may answer 200 with a page of its own. */
function readJson(text: string, shown: (text: string) => string): unknown {
  try {
    return parseLossless(text)
  } catch (error) {
    throw new Error(`the answer is no JSON: ${shown(text).slice(0, 80)}`, { cause: error })
  }
}

function complaintOf({ status, headers }: Response, problem: string, now: Date): HttpResult {
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), now)
  if (status === 429) return { kind: 'limited', problem, retryAfterMs }
  if (status >= 500 || status === 408) return { kind: 'failed', problem, retryAfterMs }
  return { kind: 'refused', status, problem }
}

/** `fetch` hides the cause behind a generic error. */
function problemOf(error: unknown): string {
  const isVague = error instanceof TypeError && error.cause !== undefined
  return explained(messageOf(isVague ? error.cause : error))
}

/** `fetch` reports a redirect only as unexpected. */
function explained(message: string): string {
  return message === 'unexpected redirect'
    ? 'it answers with a redirect, which is not followed: SERVICE_URL has to be the address it leads to'
    : message
}

/** A server may repeat what it received, also in JSON or a URL, and so does fetch if it refuses to send it. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
  ])
  const longestFirst = forms.filter((form) => form !== '').toSorted((a, b) => b.length - a.length)
  return longestFirst.reduce((shown, form) => shown.replaceAll(form, '[secret]'), text)
}

/** `unasked`: the service did not answer. */
export type KeyScope = 'read' | 'write' | 'refused' | 'unknown' | 'unasked'

/**
 * Requests a creation with a body that is not JSON, so nothing is executed: a key without the right is
 * refused for that reason. `unknown` if the service checks the body first.
 */
export async function probeScope(
  { url, auth, timeoutMs }: Required<Omit<ProviderSettings, 'attemptsMax'>>,
  creationPath: string,
): Promise<KeyScope> {
  const authorize = createAuthorize(auth, () => new Date())
  const unproved = { method: 'POST', url: urlOf({ url }, creationPath), body: '{' }
  const statusWith = (headersOf: () => Promise<Pick<Authorization, 'headers'>>) =>
    statusOf(async () => send(unproved, await headersOf(), timeoutMs))
  const withKey = await statusWith(() => authorize(unproved))
  if (withKey === null) return 'unasked'
  if (withKey === 401) return 'refused'
  if (withKey === 403) return 'read'
  const withoutKey = await statusWith(() => Promise.resolve({ headers: {} }))
  const isKeyFirst = withoutKey === 401 || withoutKey === 403
  return isKeyFirst && (withKey === 400 || withKey === 422) ? 'write' : 'unknown'
}

/** Null if there was no answer. */
async function statusOf(ask: () => Promise<Response>): Promise<number | null> {
  try {
    const response = await ask()
    await response.body?.cancel()
    return response.status
  } catch {
    return null
  }
}
