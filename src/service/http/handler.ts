import { setTimeout } from 'node:timers/promises'
import express, { type Request, type Response } from 'express'
import type { Logger } from 'pino'
import { logEvent } from '../../log/log-event.ts'
import type { Faults } from '../faults/faults.ts'
import { describeError } from '../running/requests.ts'
import type { Authenticate } from './authentication.ts'
import { type ApiReply, problemReply, refusal, replyTo } from './problem.ts'
import { checkParameters, hasBody, readJsonBody, readQuery, refuseBody } from './read-request.ts'
import type { Api, ApiRoute } from './route.ts'

export type HandlerParts = {
  api: Api
  routes: readonly ApiRoute[]
  authenticate: Authenticate
  stopping: AbortSignal
  log: Logger
}

export function createHandler(parts: HandlerParts): express.Express {
  const match = createMatcher(parts.routes)
  const app = express().disable('x-powered-by').disable('etag')
  app.use((request, response) =>
    respond(response, parts.log, () => operate(parts, match(request), { request, response })),
  )
  return app
}

/** Checks the key before it reads the body or reveals which paths exist. */
async function operate(
  { api, authenticate, stopping }: HandlerParts,
  match: Match,
  { request, response }: { request: Request; response: Response },
): Promise<ApiReply> {
  const scope = match.kind === 'found' ? match.route.scope : 'read'
  if (scope !== null) await authenticate(request, response, scope)
  if (match.kind === 'missing') throw refuseUnknown(request.path.slice(0, 200), match.methods)
  await strikeCall(api.faults, () => AbortSignal.any([stopping, hungUp(response)]))
  const { route, parameters } = match
  checkParameters(parameters)
  const query = readQuery(request)
  const body = await readBody(route, request, response)
  return { status: route.status, body: await route.run(api, { parameters, query, body }) }
}

async function readBody({ body: schema }: ApiRoute, request: Request, response: Response): Promise<unknown> {
  if (schema === null) {
    refuseBody(request)
    return undefined
  }
  const isLeftOut = !hasBody(request) && schema.safeParse(undefined).success
  return isLeftOut ? undefined : readJsonBody(request, response)
}

/** Aborts also if the caller disconnects. */
function hungUp(response: Response): AbortSignal {
  const closed = new AbortController()
  response.once('close', () => closed.abort())
  return closed.signal
}

function refuseUnknown(path: string, methods: readonly string[]) {
  if (methods.length === 0) return refusal('not_found', `${path} does not exist in this API`)
  const allow = methods.join(', ')
  return refusal('method_not_allowed', `${path} accepts ${allow}`, { headers: { allow } })
}

async function respond(response: Response, log: Logger, work: () => Promise<ApiReply>): Promise<void> {
  const { status, body, headers } = await replyOf(work, log)
  response.status(status)
  if (body === undefined) {
    response.end()
    return
  }
  const text = JSON.stringify(body)
  response.set({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers })
  response.set('content-length', String(Buffer.byteLength(text))).end(text)
}

async function replyOf(work: () => Promise<ApiReply>, log: Logger): Promise<ApiReply> {
  try {
    return await work()
  } catch (error) {
    const reply = replyTo(error)
    if (reply !== null) return reply
    logEvent(log, 'service_request_failed', { problem: describeError(error) })
    return problemReply('internal', 'internal error; the request can be sent again')
  }
}

type Match =
  | { kind: 'found'; route: ApiRoute; parameters: Record<string, string> }
  | { kind: 'missing'; methods: readonly string[] }

type MatchRoute = (request: { method: string; path: string }) => Match

/** Case-sensitive, without a trailing slash. */
function createMatcher(routes: readonly ApiRoute[]): MatchRoute {
  const patterns = routes.map((route) => ({ route, pattern: patternOf(route) }))
  return ({ method, path }) => {
    const here = patterns.filter(({ pattern }) => pattern.test(path))
    const wanted = method === 'HEAD' ? 'get' : method.toLowerCase()
    const found = here.find(({ route }) => route.method === wanted)
    if (found === undefined) {
      return { kind: 'missing', methods: here.map(({ route }) => route.method.toUpperCase()) }
    }
    const parts = Object.entries(found.pattern.exec(path)?.groups ?? {})
    const parameters = Object.fromEntries(parts.map(([name, text]) => [name, decode(text)]))
    return { kind: 'found', route: found.route, parameters }
  }
}

function patternOf({ path }: ApiRoute): RegExp {
  const escaped = path.replaceAll('.', String.raw`\.`)
  return new RegExp(`^${escaped.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw refusal('http_malformed', 'the path is not valid percent-encoded UTF-8')
  }
}

/** Mostly valid seconds, then unusual values that callers must handle. */
const retriesAfter = ['1', '1', '1', '0', '86400', '-1', 'soon', 'Wed, 21 Oct 2015 07:28:00 GMT'] as const

/** Longer than callers wait. */
const stallMaxMs = 120_000

/** Injects a 429, a 500, or no answer until `gone` aborts. @throws Fault `request_refused` */
export async function strikeCall(faults: Faults, gone: () => AbortSignal): Promise<void> {
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
