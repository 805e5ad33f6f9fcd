import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import express, { type Express } from 'express'
import { Fault, messageOf } from '../core/errors.ts'
import { type ServerLimits, serverLimits, serverOptions } from '../core/server-limits.ts'
import { limitConnections } from '../http/limit-connections.ts'
import { createMatcher, createSourceReader } from './client-source.ts'
import { createBodyReader } from './read-body.ts'
import { type IntakeDeps, receiveTransfer, sendJson } from './receive-transfer.ts'

export type IntakeLimits = ServerLimits & {
  bodyBytesMax: number
  /** Of all bodies still arriving, together. */
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
  /** Addresses, or networks like `10.0.0.0/8`, whose `X-Forwarded-For` is believed. */
  trustedProxies: readonly string[]
}

export type Intake = {
  /** Without a trailing slash; the webhook's address is this and `transfersPath`. */
  url: string
  /** Refuses new connections, lets what is being answered finish within the limit, closes the rest. */
  stop: () => Promise<void>
}

export const transfersPath = '/webhooks/transfers'

/**
 * Listens for webhooks.
 * @throws Fault `settings_bad` where the port cannot be had.
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
  /** Holds the response until it is closed; then `onIdle` is called if no other is left. */
  add: (response: ServerResponse) => void
  isIdle: () => boolean
  all: () => ServerResponse[]
}

/**
 * The responses that are under way. They stand in places that are used again and not in a Set: one that changes with
 * every request outgrows its tables all the time, V8 links each to the next, and as soon as one is old all of them keep
 * what they held, so that no request is collected young.
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
