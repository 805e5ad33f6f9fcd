import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { assert } from '../core/errors.ts'
import { limitConnections, type ServerLimits } from './server-limits.ts'

type HttpServerSettings = {
  host: string
  /** 0 picks a free port. */
  port: number
  /** PEM. Without them the server speaks plain HTTP. */
  tls?: { cert: string; key: string } | undefined
  limits: ServerLimits & { connectionsMax: number; connectionsPerSourceMax: number }
  /** A reverse proxy carries the connections of many clients. By default no address is trusted. */
  isTrusted?: (address: string) => boolean
  /** How long a stop waits for requests in progress; 0 ends them at once. */
  drainMs: number
}

export type HttpServer = {
  /** With the bound port, without a trailing slash. */
  url: string
  server: Server
  /** Requests in progress finish within `drainMs`; the rest is closed. */
  stop: () => Promise<void>
}

/** @throws the error of `listen`, such as EADDRINUSE */
export async function startHttpServer(
  handler: RequestListener,
  { host, port, tls, limits, isTrusted, drainMs }: HttpServerSettings,
): Promise<HttpServer> {
  const responses = createOpenResponses(() => {
    if (stopping !== null) server.closeAllConnections()
  })
  const listener: RequestListener = (request, response) => {
    responses.add(response)
    if (stopping !== null) response.shouldKeepAlive = false
    handler(request, response)
  }
  const options = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
  }
  const server =
    tls === undefined
      ? createServer(options, listener)
      : createTlsServer({ ...options, ...tls, handshakeTimeout: limits.headersTimeoutMs }, listener)
  const { connectionsMax: max, connectionsPerSourceMax: perSourceMax } = limits
  limitConnections(server, { max, perSourceMax, ...(isTrusted && { isTrusted }) })
  server.listen(port, host)
  await once(server, 'listening')

  let stopping: Promise<void> | null = null
  const stop = async (): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    for (const response of responses.all()) response.shouldKeepAlive = false
    if (responses.isIdle() || drainMs === 0) server.closeAllConnections()
    const timer = setTimeout(() => server.closeAllConnections(), drainMs)
    await closed
    clearTimeout(timer)
  }
  const url = `${tls === undefined ? 'http' : 'https'}://${boundHost(server)}`
  return { url, server, stop: () => (stopping ??= stop()) }
}

function boundHost(server: Server): string {
  const bound = server.address()
  assert(bound !== null && typeof bound === 'object', 'a server that listens has an address')
  return `${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`
}

/**
 * An array with reused slots. A Set that changes with every request keeps replacing its hash tables, and V8 links each
 * to the next: once one is old, all retain their entries, so no request is collected while young.
 */
export function createOpenResponses(onIdle: () => void) {
  const slots: (ServerResponse | null)[] = []
  const free: number[] = []
  const isIdle = () => free.length === slots.length
  return {
    /** Calls `onIdle` after the last response is closed. */
    add(response: ServerResponse): void {
      const slot = free.pop() ?? slots.length
      slots[slot] = response
      response.once('close', () => {
        slots[slot] = null
        free.push(slot)
        if (isIdle()) onIdle()
      })
    },
    isIdle,
    all: () => slots.filter((response) => response !== null),
  }
}
