import type { RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import type { Express, Request } from 'express'
import type { Logger } from 'pino'
import { z } from 'zod'
import { createKeyCheck, limitHeaders } from '../../http/key-check.ts'
import { describeApi } from '../../http/open-api.ts'
import { createRouteHandler, type Exchange, hungUp } from '../../http/route-handler.ts'
import { type HttpServer, startHttpServer } from '../../http/server.ts'
import { serverLimits } from '../../http/server-limits.ts'
import type { RateLimit } from '../../http/token-buckets.ts'
import { logEvent } from '../../log/log-event.ts'
import { findApiKey, registerApiKey } from '../api-keys.ts'
import type { Faults } from '../faults/faults.ts'
import { describeError } from '../running/requests.ts'
import {
  type ApiServerSettings,
  connectionLimits,
  type DepositServiceSettings,
  isExposed,
  loopback,
} from '../settings.ts'
import type { ApiScope, ServiceDatabase } from '../tables.ts'
import { openVault } from '../webhooks/secrets.ts'
import { channelRoutes } from './channel-routes.ts'
import { depositRoutes } from './deposit-routes.ts'
import { eventRoutes } from './event-routes.ts'
import { policyRoutes } from './policy-routes.ts'
import { type ProblemCode, problemReply, problems, refusal } from './problem.ts'
import { type Api, type ApiRoute, defineRoute, ofPage, ours, type ServiceApi } from './route.ts'
import { webhookRoutes } from './webhook-routes.ts'
import { walletRoutes, withdrawalRoutes } from './withdrawal-routes.ts'

type ServerParts = { settings: DepositServiceSettings; log: Logger } & Omit<Api, 'networks' | 'webhooks'>

/** The configured keys are accepted, unless they were revoked. */
export async function startServer(parts: ServerParts): Promise<Pick<HttpServer, 'url' | 'stop'>> {
  const { settings, log, ...api } = parts
  if (isExposed(settings)) logEvent(log, 'service_without_tls', { host: settings.host })
  await registerApiKeys(api.db, settings)
  const webhooks = { vault: openVault(settings.seed), allowPrivate: settings.allowPrivateWebhooks }
  const stopping = new AbortController()
  const handler = createHandler({
    api: { ...api, networks: settings.networks, webhooks },
    authenticate: openAuthentication(api.db, settings.rateLimit),
    stopping: stopping.signal,
    log,
  })
  const { url, server, stop } = await listen(handler, settings)
  server.setTimeout(silenceMs)
  server.on('clientError', refuseConnection)
  return {
    url,
    stop: () => {
      stopping.abort()
      return stop()
    },
  }
}

async function registerApiKeys(db: ServiceDatabase, { apiKeys }: DepositServiceSettings): Promise<void> {
  await Promise.all(apiKeys.map(({ key, scope }) => registerApiKey(db, { key, scope, name: 'settings' })))
}

/** Longer than any response takes; the client is then considered gone. */
const silenceMs = 150_000
/** How long a stop waits for requests in progress. */
const drainMs = 10_000

/** One client may use every connection, until another one needs some. */
function listen(
  handler: RequestListener,
  { host = loopback, port, tls, limits }: ApiServerSettings,
): Promise<HttpServer> {
  const { headersMs, requestMs, idleMs, connectionsMax } = { ...connectionLimits, ...limits }
  return startHttpServer(handler, {
    host,
    port,
    tls,
    limits: {
      ...serverLimits,
      headersTimeoutMs: headersMs,
      requestTimeoutMs: requestMs,
      keepAliveTimeoutMs: idleMs,
      timeoutCheckMs: Math.min(serverLimits.timeoutCheckMs, headersMs),
      connectionsMax,
      connectionsPerSourceMax: connectionsMax,
    },
    drainMs,
  })
}

const refusals: Readonly<Record<string, [ProblemCode, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'the request was not received completely in time'],
  HPE_HEADER_OVERFLOW: [
    'headers_too_large',
    `the headers are longer than ${serverLimits.headerBytesMax} bytes`,
  ],
}

/** Answers with a problem too, if the connection is still open. */
function refuseConnection(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [code, detail] = refusals[error.code ?? ''] ?? ['http_malformed', 'the request is not valid HTTP/1.1']
  const { status, body, headers } = problemReply(code, detail)
  const text = JSON.stringify(body)
  const lines = Object.entries({
    ...headers,
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${reasons[status] ?? ''}\r\n${lines.join('')}\r\n${text}`)
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

type HandlerParts = {
  api: Api
  authenticate: Authenticate
  stopping: AbortSignal
  log: Logger
}

function createHandler({ api, authenticate, stopping, log }: HandlerParts): Express {
  return createRouteHandler<ServiceApi>({
    routes,
    problems,
    async admit(exchange, route) {
      const scope = route === null ? 'read' : route.scope
      if (scope !== null) await authenticate(exchange, scope)
      if (route !== null)
        await strikeCall(api.faults, () => AbortSignal.any([stopping, hungUp(exchange.response)]))
      return api
    },
    failed: (error) => logEvent(log, 'service_request_failed', { problem: describeError(error) }),
  })
}

/** Mostly valid seconds, then unusual values that callers must handle. */
const retriesAfter = ['1', '1', '1', '0', '86400', '-1', 'soon', 'Wed, 21 Oct 2015 07:28:00 GMT'] as const

/** Longer than callers wait. */
const stallMaxMs = 120_000

/** Injects a 429, a 500, or no answer until `gone` aborts. @throws Fault `request_refused` */
async function strikeCall(faults: Faults, gone: () => AbortSignal): Promise<void> {
  const [isRefused, isFailed, isStalled] = [
    faults.strikesRequest('refuseCallRate'),
    faults.strikesRequest('failCallRate'),
    faults.strikesRequest('stallCallRate'),
  ]
  if (isRefused) {
    const headers = { 'retry-after': faults.pick('retry-after', retriesAfter) }
    throw refusal('rate_limited', 'injected fault; send the request again later', { headers })
  }
  if (isFailed) throw refusal('internal', 'injected fault; send the request again')
  if (!isStalled) return
  await setTimeout(stallMaxMs, undefined, { signal: gone() }).catch(() => undefined)
  throw refusal('internal', 'injected fault; the service did not answer')
}

/** The document is public. */
const descriptionRoute = defineRoute({
  method: 'get',
  path: '/openapi.json',
  scope: null,
  summary: 'Describe the API, as OpenAPI 3.1',
  description: ours,
  status: 200,
  answer: z.record(z.string(), z.unknown()).meta({ id: 'Document' }),
  refusals: [],
  run: () => Promise.resolve(apiDescription),
})

export const routes: readonly ApiRoute[] = [
  ...channelRoutes,
  ...walletRoutes,
  ...policyRoutes,
  ...withdrawalRoutes,
  ...depositRoutes,
  ...webhookRoutes,
  ...eventRoutes,
  descriptionRoute,
]

function listed(description: string): string {
  return routes
    .filter((route) => route.description === description)
    .map(({ method, path }) => `- \`${method.toUpperCase()} ${path}\``)
    .join('\n')
}

function origins(): string {
  return `The interface page that this service implements defines these operations:

${listed(ofPage)}

It also defines the fields of channels, StableWallets and deposit addresses, the header \`X-API-KEY\` and the scopes
\`read\` and \`write\`. Everything else is an addition of this service and may differ in another one: all statuses,
which fields are required, the format of ids and the effect of a repeated id, the query and the response of the list of
deposits, all problems and their codes, all limits, policies, webhooks, and these operations:

${listed(ours)}`
}

/** As OpenAPI 3.1. */
export const apiDescription = describeApi<ServiceApi>(routes, {
  info: { title: 'Deposit service', version: '1', description: origins() },
  problems,
  securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' } },
  // For a scheme other than OAuth, this array lists role names.
  security: (scope) => ({
    needs: { apiKey: [scope] },
    problems: ['key_missing', 'key_unknown', ...(scope === 'write' ? (['scope_insufficient'] as const) : [])],
  }),
  headers: limitHeaders,
})

/** Throws a refusal: 401 without a valid key, 403 if its scope is insufficient, or 429. */
type Authenticate = (exchange: Exchange, needed: ApiScope) => Promise<void>

/** Enough for ten thousand creations in a row. */
const rateLimitDefault: RateLimit = { perSecond: 1000, burst: 5000 }

function openAuthentication(db: ServiceDatabase, limit: RateLimit = rateLimitDefault): Authenticate {
  const check = createKeyCheck({
    limit,
    presented: (request: Request) => request.get('x-api-key') ?? '',
    find: (text) => findApiKey(db, text),
    refuse: {
      missing: () => unauthenticated('key_missing', 'send the API key in the X-API-KEY header'),
      unknown: () => unauthenticated('key_unknown', 'the API key in X-API-KEY is unknown or revoked'),
      tooMany: (detail, headers) => refusal('rate_limited', detail, { headers }),
    },
  })
  return async (exchange, needed) => {
    const key = await check(exchange)
    if (needed === 'write' && key.scope !== 'write') {
      throw refusal('scope_insufficient', 'this operation requires an API key with the write scope')
    }
  }
}

/** RFC 9110 requires a challenge. This scheme has no registered name. */
function unauthenticated(code: 'key_missing' | 'key_unknown', detail: string) {
  return refusal(code, detail, { headers: { 'www-authenticate': 'ApiKey header="X-API-KEY"' } })
}
