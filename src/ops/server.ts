import { createHash, timingSafeEqual } from 'node:crypto'
import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express'
import { Fault, messageOf } from '../core/errors.ts'
import { type HttpServer, startHttpServer } from '../http/server.ts'
import { type ServerLimits, serverLimits } from '../http/server-limits.ts'
import type { ConsoleSite } from './console/serve-console.ts'
import { type GaugesReader } from './gauges.ts'
import type { Metrics } from './metrics.ts'
import { createReadiness, type Readiness, type ReadinessReport } from './readiness.ts'
import { serveMetrics } from './serve-metrics.ts'

export type OpsSettings = {
  host: string
  port: number
  /** Null or absent if every client that reaches the port may see everything. */
  token?: string | null
  /** Under which a reverse proxy on this machine reaches it, with the port. */
  publicHost?: string | null
  limits?: OpsLimits
  metrics: Metrics
  failed?: (path: string, error: unknown) => void
}

/** For a few scrapers, probes and people. Clients that hold connections open or send slowly are cut off. */
export type OpsLimits = ServerLimits & { connectionsMax: number; connectionsPerSourceMax: number }

/** A source at its limit leaves as many connections to others: a probe that gets none would restart the daemon. */
export const opsLimits: OpsLimits = { ...serverLimits, connectionsMax: 256, connectionsPerSourceMax: 128 }

export type OpsSources = {
  read: GaugesReader
  readiness: Readiness
  console?: ConsoleSite
}

export type OpsServer = {
  url: string
  /** Until then, reports only liveness, the counters, and that the process is not ready. */
  open: (shown: OpsSources) => void
  /** Not ready from now on, so that no traffic is sent while the process stops. */
  leave: () => void
  stop: () => Promise<void>
}

/**
 * On loopback by default, because the content is not public.
 * @throws Fault `settings_bad` if the port is not available
 */
export async function startOps(settings: OpsSettings): Promise<OpsServer> {
  const { host, port, limits = opsLimits } = settings
  const showing: OpsResponders = {
    ask: unready('start', 'the database is being brought up to date'),
    read: () => Promise.resolve({ live: null, totals: null, scorecard: null, queue: null }),
    console: { pages: (_request, _response, next) => next(), admits: () => Promise.resolve(false) },
  }
  const { url, stop } = await listen(createApp(settings, showing), { host, port, limits, drainMs: 0 })
  return {
    url,
    open(shown) {
      showing.ask = createReadiness(shown.readiness)
      showing.read = shown.read
      showing.console = shown.console ?? showing.console
    },
    leave() {
      showing.ask = unready('stop', 'the process is stopping')
    },
    stop,
  }
}

type OpsResponders = { ask: () => Promise<ReadinessReport>; read: GaugesReader; console: ConsoleSite }

/** Asks for the token of the settings. */
const tokenPath = '/sign-in/token'

function createApp(
  { token = null, metrics, failed, ...bound }: OpsSettings,
  showing: OpsResponders,
): Express {
  const recognises = createRecognition(token)
  const app = express()
  app.disable('x-powered-by')
  app.use(protect)
  app.get('/livez', (_request, response) => void response.type('text/plain').send('alive\n'))
  app.use(refuseOtherNames(bound))
  app.get('/readyz', async (request, response) => {
    const answer = await showing.ask()
    response.status(answer.ready ? 200 : 503).json(recognises(request) ? answer : { ready: answer.ready })
  })
  app.use(
    '/metrics',
    requireToken(recognises, () => Promise.resolve(false)),
  )
  app.get('/metrics', serveMetrics({ metrics, read: () => showing.read() }))
  app.use(requireToken(recognises, (request) => showing.console.admits(request)))
  app.get(tokenPath, (_request, response) => response.redirect(303, '/'))
  app.use((request, response, next) => showing.console.pages(request, response, next))
  app.use(
    (_request, response) => void response.status(404).type('text/plain').send('there is no such page\n'),
  )
  app.use(answerFailure(failed))
  return app
}

function answerFailure(failed: OpsSettings['failed']): ErrorRequestHandler {
  // Express recognizes error handlers by their four parameters.
  // oxlint-disable-next-line max-params
  return (error, request, response, _next) => {
    failed?.(request.path, error)
    if (response.headersSent) response.destroy()
    else response.status(500).type('text/plain').send('the answer failed; the log says why\n')
  }
}

function unready(part: string, problem: string): OpsResponders['ask'] {
  return () => Promise.resolve({ ready: false, unready: [{ part, problem }], warnings: [], fine: [] })
}

const protect: RequestHandler = (_request, response, next) => {
  response.set({ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' })
  next()
}

async function listen(app: Express, settings: Parameters<typeof startHttpServer>[1]): Promise<HttpServer> {
  try {
    return await startHttpServer(app, settings)
  } catch (error) {
    const fault = `OPS_PORT ${settings.port} cannot be used (${messageOf(error)}); choose another`
    throw new Fault('settings_bad', { faults: [fault] }, { cause: error })
  }
}

const ownNames = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/**
 * On loopback, only its own names: a foreign website could point its host name to this port and read the responses as
 * its own origin (DNS rebinding).
 */
function refuseOtherNames({ host, publicHost }: Pick<OpsSettings, 'host' | 'publicHost'>): RequestHandler {
  const isOwn = ownNames.test(host.includes(':') ? `[${host}]` : host)
  return (request, response, next) => {
    const { host: asked = '' } = request.headers
    if (!isOwn || ownNames.test(asked) || asked === publicHost) next()
    else response.status(421).type('text/plain').send('this port is reached as localhost\n')
  }
}

/** Always true if there is no token. */
type Recognises = (request: Request) => boolean

/**
 * `Authorization: Bearer TOKEN`, or the password of HTTP Basic, which browsers ask for. Compares digests, so that
 * neither duration nor length reveals anything about the token.
 */
function createRecognition(token: string | null): Recognises {
  if (token === null) return () => true
  const wanted = digestOf(token)
  return ({ headers }) => {
    const reported = credentialOf(headers.authorization ?? '')
    return reported !== null && timingSafeEqual(digestOf(reported), wanted)
  }
}

function credentialOf(header: string): string | null {
  const [, scheme = '', text = ''] = /^(bearer|basic) +(\S+)$/i.exec(header) ?? []
  if (scheme === '') return null
  if (scheme.toLowerCase() === 'bearer') return text
  const [, password] = /^[^:]*:(.*)$/s.exec(Buffer.from(text, 'base64').toString()) ?? []
  return password ?? null
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Browsers without it are led to the sign-in, from which `/sign-in/token` leads back to here. */
function requireToken(recognises: Recognises, admits: ConsoleSite['admits']): RequestHandler {
  return async (request, response, next) => {
    if (recognises(request) || (request.path !== tokenPath && (await admits(request)))) return next()
    const isPage = request.method === 'GET' && request.accepts(['text/plain', 'text/html']) === 'text/html'
    if (isPage && request.path !== tokenPath) return response.redirect(303, '/sign-in')
    response
      .status(401)
      .set('WWW-Authenticate', 'Basic realm="depositd", charset="UTF-8"')
      .type('text/plain')
      .send('the token of OPS_TOKEN is asked for: as Bearer, or as the password of any user\n')
  }
}
