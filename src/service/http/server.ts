import { once } from 'node:events'
import type { Server } from 'node:http'
import express, { type Request, type Response } from 'express'
import type { Logger } from 'pino'
import { assert } from '../../core/errors.ts'
import { keepApiKey } from '../api-keys.ts'
import { strikeCall } from '../faults/call-faults.ts'
import { describeError } from '../running/describe-error.ts'
import type { ServiceSettings } from '../settings.ts'
import type { ServiceDatabase } from '../tables.ts'
import { type Authenticate, openAuthentication } from './authentication.ts'
import { problemReply, type Reply, replyTo } from './problem.ts'
import { readJsonBody, readParameters, readQuery, refuseBody } from './read-request.ts'
import type { Api, Route } from './route.ts'
import { routes } from './routes.ts'

type ServerParts = { settings: ServiceSettings; log: Logger } & Pick<Api, 'db' | 'keyring' | 'faults'>

export type RunningServer = { url: string; stop(): Promise<void> }

const loopback = '127.0.0.1'

export async function startServer(parts: ServerParts): Promise<RunningServer> {
  const { settings, db, keyring, faults, log } = parts
  await keepGivenKeys(db, settings)
  const authenticate = openAuthentication(db)
  const api: Api = { db, keyring, faults, networks: settings.networks }
  const stopping = new AbortController()
  const app = express()
    .disable('x-powered-by')
    .disable('etag')
    .enable('case sensitive routing')
    .enable('strict routing')
  for (const route of routes) {
    app[route.method](expressPath(route), (request, response) =>
      respond(response, log, () =>
        operate({ api, route, authenticate, stopping: stopping.signal }, request, response),
      ),
    )
  }
  app.use((request, response) => respond(response, log, () => refuseUnknown(authenticate, request)))
  const server = app.listen(settings.port, loopback)
  await once(server, 'listening')
  const bound = server.address()
  assert(bound !== null && typeof bound === 'object', 'a server that listens has an address')
  const stop = () => {
    stopping.abort()
    return close(server)
  }
  return { url: `http://${loopback}:${bound.port}`, stop }
}

async function keepGivenKeys(db: ServiceDatabase, { apiKeys }: ServiceSettings): Promise<void> {
  await Promise.all(apiKeys.map(({ key, scope }) => keepApiKey(db, { key, scope, name: 'settings' })))
}

type Operation = { api: Api; route: Route; authenticate: Authenticate; stopping: AbortSignal }

/** The key is checked before a byte of the body is read. */
async function operate(operation: Operation, request: Request, response: Response): Promise<Reply> {
  const { api, route, authenticate, stopping } = operation
  if (route.scope !== null) await authenticate(request.get('x-api-key'), route.scope)
  await strikeCall(api.faults, AbortSignal.any([stopping, hungUp(response)]))
  const [parameters, query] = [readParameters(request), readQuery(request)]
  if (route.body === null) refuseBody(request)
  const body = route.body === null ? undefined : await readJsonBody(request, response)
  return { status: route.status, body: await route.run(api, { parameters, query, body }) }
}

/** Aborted once the caller has gone, or has its answer. */
function hungUp(response: Response): AbortSignal {
  const closed = new AbortController()
  response.once('close', () => closed.abort())
  return closed.signal
}

function expressPath({ path }: Route): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

/** A path that exists takes another method; who may not call at all is not told which paths exist. */
async function refuseUnknown(authenticate: Authenticate, request: Request): Promise<Reply> {
  await authenticate(request.get('x-api-key'), 'read')
  const taken = routes
    .filter((route) => pathOf(route).test(request.path))
    .map(({ method }) => method.toUpperCase())
  if (taken.length === 0) return problemReply('not_found', `${request.path} is not an operation`)
  const reply = problemReply('method_not_allowed', `${request.path} takes ${taken.join(', ')}`)
  return { ...reply, headers: { ...reply.headers, allow: taken.join(', ') } }
}

function pathOf({ path }: Route): RegExp {
  return new RegExp(`^${path.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

async function respond(response: Response, log: Logger, work: () => Promise<Reply>): Promise<void> {
  const { status, body, headers } = await replyOf(work, log)
  response.status(status).set({ 'content-type': 'application/json; charset=utf-8', ...headers })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}

async function replyOf(work: () => Promise<Reply>, log: Logger): Promise<Reply> {
  try {
    return await work()
  } catch (error) {
    const reply = replyTo(error)
    if (reply !== null) return reply
    log.error({ problem: describeError(error) }, 'request to the deposit service failed')
    return problemReply('internal', 'the request may be sent again')
  }
}

/** Requests under way get their answer; idle connections are closed at once. */
async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  await closed
}
