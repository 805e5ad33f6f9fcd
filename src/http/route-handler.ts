import express, { type Request, type Response } from 'express'
import type { ApiReply, ProblemDocuments } from './problem.ts'
import { checkParameters, hasBody, readJsonBody, readQuery, refuseBody } from './read-request.ts'
import type { ApiKind, HttpRoute } from './route.ts'

export type Exchange = { request: Request; response: Response }

export type RouteHandlerParts<Kind extends ApiKind> = {
  routes: readonly HttpRoute<Kind>[]
  problems: ProblemDocuments<Kind['problem']>
  /**
   * Before the body is read, and before it is revealed which paths exist: `route` is null if there is no such call.
   * @throws Fault `request_refused`
   */
  admit: (exchange: Exchange, route: HttpRoute<Kind> | null) => Promise<Kind['api']>
  /** May replace an answer before it is sent. */
  finish?: (reply: ApiReply, exchange: Exchange, route: HttpRoute<Kind>) => ApiReply
  /** Gives the refusal that an error of a handler amounts to; null for an internal error. */
  translate?: (error: unknown) => Error | null
  failed: (error: unknown, request: Request) => void
}

export function createRouteHandler<Kind extends ApiKind>(parts: RouteHandlerParts<Kind>): express.Express {
  const match = createMatcher(parts)
  const app = express().disable('x-powered-by').disable('etag')
  app.use((request, response) => respond(parts, match, { request, response }))
  return app
}

async function respond<Kind extends ApiKind>(
  parts: RouteHandlerParts<Kind>,
  match: MatchRoute<Kind>,
  exchange: Exchange,
): Promise<void> {
  const { response } = exchange
  const { status, body, headers } = await replyOf(parts, match, exchange)
  response.status(status)
  if (body === undefined) {
    response.set({ ...headers }).end()
    return
  }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.set({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers })
  response.set('content-length', String(Buffer.byteLength(text))).end(text)
}

async function replyOf<Kind extends ApiKind>(
  { problems, failed, translate, ...parts }: RouteHandlerParts<Kind>,
  match: MatchRoute<Kind>,
  exchange: Exchange,
): Promise<ApiReply> {
  try {
    return await operate(parts, match(exchange.request), exchange)
  } catch (error) {
    const reply = problems.replyTo(translate?.(error) ?? error)
    if (reply !== null) return reply
    failed(error, exchange.request)
    return problems.reply('internal', 'internal error; the request can be sent again')
  }
}

async function operate<Kind extends ApiKind>(
  { admit, finish }: Pick<RouteHandlerParts<Kind>, 'admit' | 'finish'>,
  found: Match<Kind>,
  exchange: Exchange,
): Promise<ApiReply> {
  const { request, response } = exchange
  const api = await admit(exchange, found.kind === 'found' ? found.route : null)
  if (found.kind === 'missing') throw found.refusal
  const { route, parameters } = found
  checkParameters(parameters)
  const query = readQuery(request)
  const body = await readBody(route, request, response)
  const reply = { status: route.status, body: await route.run(api, { parameters, query, body }) }
  return finish === undefined ? reply : finish(reply, exchange, route)
}

async function readBody(
  { body: schema }: Pick<HttpRoute<ApiKind>, 'body'>,
  request: Request,
  response: Response,
): Promise<unknown> {
  if (schema === null) {
    refuseBody(request)
    return undefined
  }
  const isLeftOut = !hasBody(request) && schema.safeParse(undefined).success
  return isLeftOut ? undefined : readJsonBody(request, response)
}

type Match<Kind extends ApiKind> =
  | { kind: 'found'; route: HttpRoute<Kind>; parameters: Record<string, string> }
  | { kind: 'missing'; refusal: Error }

type MatchRoute<Kind extends ApiKind> = (request: { method: string; path: string }) => Match<Kind>

/** Case-sensitive, without a trailing slash. */
function createMatcher<Kind extends ApiKind>({
  routes,
  problems: { refusal },
}: Pick<RouteHandlerParts<Kind>, 'routes' | 'problems'>): MatchRoute<Kind> {
  const patterns = routes.map((route) => ({ route, pattern: patternOf(route.path) }))
  const decode = (text: string): string => {
    try {
      return decodeURIComponent(text)
    } catch {
      throw refusal('http_malformed', 'the path is not valid percent-encoded UTF-8')
    }
  }
  const refuse = (path: string, methods: readonly string[]) => {
    if (methods.length === 0) return refusal('not_found', `${path} does not exist in this API`)
    const allow = methods.join(', ')
    return refusal('method_not_allowed', `${path} accepts ${allow}`, { headers: { allow } })
  }
  return ({ method, path }) => {
    const here = patterns.filter(({ pattern }) => pattern.test(path))
    const wanted = method === 'HEAD' ? 'get' : method.toLowerCase()
    const found = here.find(({ route }) => route.method === wanted)
    if (found === undefined) {
      const methods = here.map(({ route }) => route.method.toUpperCase())
      return { kind: 'missing', refusal: refuse(path.slice(0, 200), methods) }
    }
    const parts = Object.entries(found.pattern.exec(path)?.groups ?? {})
    const parameters = Object.fromEntries(parts.map(([name, text]) => [name, decode(text)]))
    return { kind: 'found', route: found.route, parameters }
  }
}

function patternOf(path: string): RegExp {
  const escaped = path.replaceAll('.', String.raw`\.`)
  return new RegExp(`^${escaped.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
}

/** Aborts if the caller disconnects. */
export function hungUp(response: Response): AbortSignal {
  const closed = new AbortController()
  response.once('close', () => closed.abort())
  return closed.signal
}
