import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import { isFault } from '../../core/errors.ts'
import { documentOf, icon, iconPath } from './page.ts'
import { problemPage } from './problem-page.ts'
import type { ConsoleReader } from './reading.ts'
import { type ConsolePageHandler, routes } from './routes.ts'

const style = readFileSync(join(import.meta.dirname, 'console.css'), 'utf8')
const stylePath = `/console-${createHash('sha256').update(style).digest('hex').slice(0, 12)}.css`

/** The pages load nothing from elsewhere, run no scripts, send forms to no other site, and cannot be framed. */
const policy =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** The console: read-only pages that show the state to people. */
export function serveConsole(reader: ConsoleReader): Router {
  const router = Router()
  router.use(refuseOddPaths)
  for (const [path, answer] of routes) {
    router
      .route(path)
      .get(protect, (request, response) => show(request, response, { reader, answer }))
      .all(refuseMethod)
  }
  router.route(stylePath).get(protect, serveFile('text/css', style)).all(refuseMethod)
  router.route(iconPath).get(protect, serveFile('image/svg+xml', icon)).all(refuseMethod)
  return router
}

/** A path that cannot be decoded belongs to no route. */
const refuseOddPaths: RequestHandler = (request, response, next) => {
  try {
    decodeURIComponent(request.path)
  } catch {
    response.status(400).type('text/plain').send('the path is no text\n')
    return
  }
  next()
}

const protect: RequestHandler = (_request, response, next) => {
  response.set({
    'Content-Security-Policy': policy,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  })
  next()
}

const refuseMethod: RequestHandler = (_request, response) =>
  void response.status(405).set('Allow', 'GET, HEAD').type('text/plain').send('the console is read only\n')

/** The file name changes with the content, so browsers may cache it. */
function serveFile(type: string, text: string): RequestHandler {
  return (_request, response) =>
    void response.set('Cache-Control', 'public, max-age=86400').type(type).send(text)
}

type ConsolePageDeps = { reader: ConsoleReader; answer: ConsolePageHandler }

/** Errors of the program itself are rethrown. */
async function show(
  request: Request,
  response: Response,
  { reader, answer }: ConsolePageDeps,
): Promise<void> {
  const { version, dashboards } = reader
  const frame = { version, stylePath, dashboards, now: new Date() }
  try {
    const { id = '' } = request.params
    const [, query = ''] = request.url.split('?', 2)
    const shown = await answer({ reader, search: new URLSearchParams(query), id: String(id) })
    if ('redirect' in shown) response.redirect(303, shown.redirect)
    else response.type('text/html').send(documentOf(shown, frame))
  } catch (error) {
    const problem = problemOf(error)
    if (problem === null) throw error
    const { status, line } = problem
    response.status(status)
    if (status === 503) response.set('Retry-After', '5')
    if (request.accepts(['text/plain', 'text/html']) === 'text/html')
      response.type('text/html').send(documentOf(problemPage(status, line), frame))
    else response.type('text/plain').send(`${line}\n`)
  }
}

/** Null for an unexpected error. */
function problemOf(error: unknown): { status: number; line: string } | null {
  if (isFault(error, 'request_refused')) return { status: error.details.status, line: error.details.problem }
  if (isFault(error, 'remote_failed'))
    return { status: 503, line: `${error.details.what}: ${error.details.problem}` }
  return null
}
