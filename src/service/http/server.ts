import type { RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { type HttpServer, startHttpServer } from '../../http/server.ts'
import { serverLimits } from '../../http/server-limits.ts'
import { logEvent } from '../../log/log-event.ts'
import { registerApiKey } from '../api-keys.ts'
import {
  type ApiServerSettings,
  connectionLimits,
  type DepositServiceSettings,
  isExposed,
  loopback,
} from '../settings.ts'
import type { ServiceDatabase } from '../tables.ts'
import { openVault } from '../webhooks/secrets.ts'
import { openAuthentication } from './authentication.ts'
import { createHandler } from './handler.ts'
import { type ProblemCode, problemReply } from './problem.ts'
import type { Api } from './route.ts'
import { routes } from './routes.ts'

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
    routes,
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
