import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Request } from 'express'
import { Fault, isFault, messageOf } from '../core/errors.ts'
import { createKeyCheck } from '../http/key-check.ts'
import type { ApiReply } from '../http/problem.ts'
import { createRouteHandler, type Exchange, hungUp } from '../http/route-handler.ts'
import { type HttpServer, startHttpServer } from '../http/server.ts'
import { serverLimits } from '../http/server-limits.ts'
import type { RateLimit } from '../http/token-buckets.ts'
import type { ApiToken } from '../store/api-tokens.ts'
import { inTransaction } from '../store/database.ts'
import { isUnreachable } from '../store/database-errors.ts'
import { problems, refusal } from './problem.ts'
import type { ReadApi, ReadKind, ReadRoute, ReadScope, ReadSources } from './route.ts'
import { readRoutes } from './routes.ts'

type ApiReport = {
  /** `call` is `other` if there is no such call; `seconds` is null for a request that may have waited for a change. */
  answered: (answer: { call: string; status: number; seconds: number | null }) => void
  /** How many wait for a change now. */
  waiting: (count: number) => void
  failed: (path: string, error: unknown) => void
}

export type ReadServerSettings = {
  host: string
  port: number
  sources: ReadSources
  /** Null if it is unknown or revoked. */
  findToken: (text: string) => Promise<ApiToken | null>
  report: ApiReport
  limit?: RateLimit | undefined
}

/** Of each token, in each process. */
const tokenLimit: RateLimit = { perSecond: 50, burst: 200 }
/** Saves a statement for nearly every request of a busy token. */
const tokenGoodForMs = 1000
const connections = { connectionsMax: 512, connectionsPerSourceMax: 256 }
const drainMs = 5000
/** Requests that wait for a change, and how often each looks. */
const [waitingMax, lookEveryMs] = [100, 500]

/** @throws Fault `settings_bad` if the port is not available */
export async function startReadServer({
  host,
  port,
  sources,
  findToken,
  report,
  limit = tokenLimit,
}: ReadServerSettings): Promise<Pick<HttpServer, 'url' | 'stop'>> {
  const stopping = new AbortController()
  const waiting = createWaiting(stopping.signal, report.waiting)
  const check = createTokenCheck(findToken, limit)
  const handler = createRouteHandler<ReadKind>({
    routes: readRoutes,
    problems,
    async admit(exchange, route) {
      reportAnswer(exchange, route, report.answered)
      const scope = route === null ? 'any' : route.scope
      const token = scope === null ? noToken : await check(exchange, scope)
      return requestOf(sources, { token, exchange, wait: waiting(exchange) })
    },
    finish: (reply, exchange, { method }) => (method === 'get' ? tag(reply, exchange) : reply),
    translate: explainFailure,
    failed: (error, { path }) => report.failed(path, error),
  })
  const limits = { ...serverLimits, ...connections }
  const { url, stop } = await startHttpServer(handler, { host, port, limits, drainMs }).catch(
    (error: unknown) => {
      const fault = `API_PORT ${port} cannot be used (${messageOf(error)}); choose another`
      throw new Fault('settings_bad', { faults: [fault] }, { cause: error })
    },
  )
  return {
    url,
    stop: () => {
      stopping.abort()
      return stop()
    },
  }
}

/** As metrics name it. */
export function callOf({ method, path }: Pick<ReadRoute, 'method' | 'path'>): string {
  return `${method.toUpperCase()} ${path}`
}

function reportAnswer(
  { request, response }: Exchange,
  route: ReadRoute | null,
  answered: ApiReport['answered'],
): void {
  const began = performance.now()
  const call = route === null ? 'other' : callOf(route)
  response.once('finish', () => {
    const seconds = (performance.now() - began) / 1000
    const { statusCode: status } = response
    answered({ call, status, seconds: 'wait' in request.query ? null : seconds })
  })
}

/** For what needs no token, and reads nothing. */
const noToken: ApiToken = {
  id: 0n,
  name: '',
  scopes: [],
  services: [],
  owners: [],
  created_by: '',
  created_at: new Date(0),
  revoked_at: null,
  last_used_at: null,
}

function createTokenCheck(find: ReadServerSettings['findToken'], limit: RateLimit) {
  const check = createKeyCheck({
    limit,
    presented: (request) => /^bearer +(\S+)$/i.exec(request.get('authorization') ?? '')?.[1] ?? '',
    find,
    goodForMs: tokenGoodForMs,
    refuse: {
      missing: () => unauthenticated('token_missing', 'send "Authorization: Bearer TOKEN"'),
      unknown: () => unauthenticated('token_unknown', 'the token is unknown or revoked'),
      tooMany: (detail, headers) => refusal('rate_limited', detail, { headers }),
    },
  })
  return async (exchange: Exchange, scope: ReadScope): Promise<ApiToken> => {
    const token = await check(exchange)
    if (scope === 'any' || token.scopes.includes(scope)) return token
    throw refusal('scope_insufficient', `this call needs a token with the scope ${scope}`)
  }
}

function unauthenticated(code: 'token_missing' | 'token_unknown', detail: string) {
  return refusal(code, detail, { headers: { 'www-authenticate': 'Bearer realm="depositd"' } })
}

type AdmittedRequest = Pick<ReadApi, 'token' | 'wait'> & { exchange: Exchange }

function requestOf(sources: ReadSources, { exchange, ...rest }: AdmittedRequest): ReadApi {
  const { request } = exchange
  return {
    ...sources,
    ...rest,
    asOf: new Date(),
    read: (work) =>
      sources.db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work),
    write: (work) => inTransaction(sources.operator, work),
    idempotencyKey: idempotencyKeyOf(request),
    hasKnown: request.get('if-none-match') !== undefined,
    knows: (body) => isKnown(request, tagOf(body)),
  }
}

/** @throws Fault `request_refused` */
function idempotencyKeyOf(request: Request): string | null {
  const key = request.get('idempotency-key') ?? null
  if (key === null || /^[!-~]{1,200}$/.test(key)) return key
  const detail = 'must be 1 to 200 printable ASCII characters without spaces'
  const errors = [{ parameter: 'Idempotency-Key', detail }]
  throw refusal('request_invalid', `Idempotency-Key: ${detail}`, { errors })
}

function createWaiting(
  stopping: AbortSignal,
  report: ApiReport['waiting'],
): (exchange: Exchange) => ReadApi['wait'] {
  let count = 0
  const change = (by: number) => {
    count += by
    report(count)
  }
  return ({ response }) =>
    () => {
      if (count >= waitingMax)
        throw refusal('rate_limited', `${waitingMax} requests wait already; ask without wait`, {
          headers: { 'retry-after': '1' },
        })
      change(1)
      const signal = AbortSignal.any([stopping, hungUp(response)])
      return {
        pause: () => sleep(lookEveryMs, true, { signal }).catch(() => false),
        [Symbol.dispose]: () => change(-1),
      }
    }
}

/** Adds the ETag, and answers 304 to a caller that has this representation. */
function tag(reply: ApiReply, { request }: Exchange): ApiReply {
  const { body } = reply
  if (typeof body !== 'object' || body === null) return reply
  const headers = { etag: tagOf(body), 'cache-control': 'private, no-cache', vary: 'authorization' }
  return isKnown(request, headers.etag) ? { status: 304, body: undefined, headers } : { ...reply, headers }
}

/** Weak: `as_of` differs each time. */
function tagOf(body: object): string {
  const { as_of: _, ...rest } = body as { as_of?: unknown }
  return `W/"${createHash('sha256').update(JSON.stringify(rest)).digest('base64url').slice(0, 27)}"`
}

function isKnown(request: Request, etag: string): boolean {
  const known = (request.get('if-none-match') ?? '').split(',').map((one) => one.trim())
  return known.includes('*') || known.includes(etag)
}

const statementTimeout = '57014'

function explainFailure(error: unknown): Error | null {
  const isLate = error instanceof Error && 'code' in error && error.code === statementTimeout
  if (!isLate && !isUnreachable(error) && !isFault(error, 'conflict')) return null
  return refusal('unavailable', 'the database does not answer in time; try again shortly', {
    headers: { 'retry-after': '1' },
  })
}
