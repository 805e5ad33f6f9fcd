import { once } from 'node:events'
import {
  createServer,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { isIPv6 } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { assert } from '../../core/errors.ts'
import { logEvent } from '../../log/log-event.ts'
import { keepApiKey } from '../api-keys.ts'
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

export type RunningServer = { url: string; stop(): Promise<void> }

/** Serves the API. The configured keys are accepted from then on, unless they were revoked. */
export async function startServer(parts: ServerParts): Promise<RunningServer> {
  const { settings, log, ...api } = parts
  if (isExposed(settings)) logEvent(log, 'service_without_tls', { host: settings.host })
  await keepGivenKeys(api.db, settings)
  const webhooks = { vault: openVault(settings.seed), allowPrivate: settings.allowPrivateWebhooks }
  const stopping = new AbortController()
  const handler = createHandler({
    api: { ...api, networks: settings.networks, webhooks },
    routes,
    authenticate: openAuthentication(api.db, settings.rateLimit),
    stopping: stopping.signal,
    log,
  })
  const listening = await listen(handler, settings)
  return {
    url: listening.url,
    stop: () => {
      stopping.abort()
      return listening.stop()
    },
  }
}

async function keepGivenKeys(db: ServiceDatabase, { apiKeys }: DepositServiceSettings): Promise<void> {
  await Promise.all(apiKeys.map(({ key, scope }) => keepApiKey(db, { key, scope, name: 'settings' })))
}

/** Longer than any response takes; a caller that reads nothing for this long is considered gone. */
const silenceMs = 150_000
/** How long a stop waits for requests in progress. */
const drainMs = 10_000
const headersMax = 16 * 1024

/** `stop` refuses new connections and drains the existing ones. */
type HttpServerHandle = { url: string; stop(): Promise<void> }

/** Listens, with HTTPS if a certificate is configured. `url` contains the bound port. */
async function listen(
  handler: RequestListener,
  { host = loopback, port, tls, limits }: ApiServerSettings,
): Promise<HttpServerHandle> {
  const { headersMs, requestMs, idleMs, connectionsMax } = { ...connectionLimits, ...limits }
  const options: ServerOptions = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(1000, headersMs),
    maxHeaderSize: headersMax,
  }
  const server =
    tls === undefined
      ? createServer(options, handler)
      : createTlsServer({ ...options, ...tls, handshakeTimeout: headersMs }, handler)
  server.maxConnections = connectionsMax
  server.setTimeout(silenceMs)
  server.on('clientError', refuseConnection)
  server.listen(port, host)
  await once(server, 'listening')
  const bound = server.address()
  assert(bound !== null && typeof bound === 'object', 'a server that listens has an address')
  const name = isIPv6(host) ? `[${host}]` : host
  return {
    stop: createClosing(server),
    url: `${tls === undefined ? 'http' : 'https'}://${name}:${bound.port}`,
  }
}

/** Requests in progress are answered within `drainMs`; all other connections are closed at once. */
function createClosing(server: Server): () => Promise<void> {
  const answering = new Set<ServerResponse>()
  let isClosing = false
  const closeIfQuiet = () => {
    if (isClosing && answering.size === 0) server.closeAllConnections()
  }
  server.on('request', (_request, response: ServerResponse) => {
    answering.add(response)
    response.once('close', () => {
      answering.delete(response)
      closeIfQuiet()
    })
  })
  return async () => {
    const closed = once(server, 'close')
    isClosing = true
    server.close()
    closeIfQuiet()
    const impatience = setTimeout(() => server.closeAllConnections(), drainMs)
    await closed.finally(() => clearTimeout(impatience))
  }
}

const refusals: Readonly<Record<string, [ProblemCode, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'the request was not complete in time'],
  HPE_HEADER_OVERFLOW: ['headers_too_large', `the headers are longer than ${headersMax} bytes`],
}

/** Answers a malformed request with a problem too, if the connection is still open. */
function refuseConnection(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [code, detail] = refusals[error.code ?? ''] ?? ['http_malformed', 'the request is not HTTP/1.1']
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
