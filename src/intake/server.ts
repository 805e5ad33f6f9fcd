import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import express, { type Express } from 'express'
import { Fault, messageOf } from '../core/errors.ts'
import { createMatcher, createSourceReader } from '../http/client-address.ts'
import { limitConnections, type ServerLimits, serverLimits, serverOptions } from '../http/server-limits.ts'
import { createBodyReader } from './read-body.ts'
import { type IntakeDeps, receiveTransfer, sendJson } from './receive-transfer.ts'

export type IntakeLimits = ServerLimits & {
  bodyBytesMax: number
  /** Total of all bodies still arriving. */
  unfinishedBytesMax: number
  unfinishedBytesPerSourceMax: number
  connectionsMax: number
  connectionsPerSourceMax: number
  stopTimeoutMs: number
}

export const intakeLimits: IntakeLimits = {
  ...serverLimits,
  bodyBytesMax: 1024 * 1024,
  unfinishedBytesMax: 64 * 1024 * 1024,
  unfinishedBytesPerSourceMax: 32 * 1024 * 1024,
  connectionsMax: 4096,
  connectionsPerSourceMax: 1024,
  stopTimeoutMs: 5000,
}

export type IntakeServerOptions = Omit<IntakeDeps, 'readBody' | 'sourceOf'> & {
  port: number
  host: string
  limits: IntakeLimits
  /** Addresses, or networks such as `10.0.0.0/8`, whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[]
}

export type Intake = {
  /** Without a trailing slash. Append `transfersPath` for the address of the webhook. */
  url: string
  /** Refuses new connections, lets active requests finish within the limit, and closes the rest. */
  stop: () => Promise<void>
}

export const transfersPath = '/webhooks/transfers'

/**
 * Starts the webhook server.
 * @throws Fault `settings_bad` if the port is unavailable
 */
export async function startIntake(settings: IntakeServerOptions): Promise<Intake> {
  const { limits } = settings
  const isTrusted = createMatcher(settings.trustedProxies)
  const app = createApp({ ...settings, sourceOf: createSourceReader(isTrusted) })
  let stopping = false
  const answering = createAnswering(() => {
    if (stopping) server.closeAllConnections()
  })
  const server = createServer(serverOptions(limits), (request, response) => {
    answering.add(response)
    if (stopping) response.shouldKeepAlive = false
    app(request, response)
  })
  limitConnections(server, {
    max: limits.connectionsMax,
    perSourceMax: limits.connectionsPerSourceMax,
    isTrusted,
  })
  await listen(server, settings)

  return {
    url: urlOf(server),
    async stop() {
      if (stopping) return
      stopping = true
      const closed = once(server, 'close')
      server.close()
      for (const response of answering.all()) response.shouldKeepAlive = false
      if (answering.isIdle()) server.closeAllConnections()
      const timer = setTimeout(() => server.closeAllConnections(), limits.stopTimeoutMs)
      await closed
      clearTimeout(timer)
    },
  }
}

function createApp(settings: IntakeServerOptions & Pick<IntakeDeps, 'sourceOf'>): Express {
  const readBody = createBodyReader(settings.limits)
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app
    .route(transfersPath)
    .post(receiveTransfer({ ...settings, readBody }))
    .get((_request, response) => sendJson(response, { status: 200, document: { status: 'ready' } }))
    .all((_request, response) =>
      sendJson(response, {
        status: 405,
        document: { code: 'method_not_allowed' },
        headers: { allow: 'GET, HEAD, POST' },
      }),
    )
  app.use((_request, response) => sendJson(response, { status: 404, document: { code: 'not_found' } }))
  return app
}

async function listen(server: Server, { port, host }: IntakeServerOptions): Promise<void> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    throw new Fault('settings_bad', { faults: [portFault(port, host, error)] }, { cause: error })
  }
}

function portFault(port: number, host: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const problem = code === 'EADDRINUSE' ? 'is taken' : `cannot be had (${messageOf(error)})`
  return `HTTP_PORT ${port} ${problem} on ${host}: stop what listens there, or set HTTP_PORT to another port`
}

function urlOf(server: Server): string {
  const address = server.address()
  if (address === null || typeof address === 'string') return ''
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}

type OpenResponses = {
  /** Holds the response until it is closed. Calls `onIdle` if it was the last. */
  add: (response: ServerResponse) => void
  isIdle: () => boolean
  all: () => ServerResponse[]
}

/**
 * Responses in progress, in an array with reused slots. A Set that changes with every request keeps replacing its hash
 * tables, and V8 links each to the next. Once one is old, all of them retain their entries, so no request is collected
 * while young.
 */
export function createAnswering(onIdle: () => void): OpenResponses {
  const places: (ServerResponse | null)[] = []
  const free: number[] = []
  const isIdle = () => free.length === places.length
  return {
    add(response) {
      const place = free.pop() ?? places.length
      places[place] = response
      response.once('close', () => {
        places[place] = null
        free.push(place)
        if (isIdle()) onIdle()
      })
    },
    isIdle,
    all: () => places.filter((response) => response !== null),
  }
}
