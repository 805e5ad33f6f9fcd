import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import { isFault } from '../../core/errors.ts'
import type { ServicesShown } from '../../presentation/text.ts'
import { depositFilter, depositPage, depositsPage, foundPage } from './deposits.ts'
import { html } from './html.ts'
import { ledgerPage } from './ledger.ts'
import { mismatchesPage, mismatchFilter, mismatchPage } from './mismatches.ts'
import { overviewPage } from './overview.ts'
import { type ConsolePage, documentOf, icon, iconPath } from './page.ts'
import { missing, oneOf, readQuery, shortText } from './query.ts'
import type { ConsoleChoices, ConsoleReader } from './reader.ts'

const style = readFileSync(join(import.meta.dirname, 'console.css'), 'utf8')
const stylePath = `/console-${createHash('sha256').update(style).digest('hex').slice(0, 12)}.css`

/** The pages load nothing from elsewhere, run no scripts, send forms to no other site, and cannot be framed. */
const policy =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

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
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
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

type ConsoleRequest = {
  reader: ConsoleReader
  search: URLSearchParams
  /** Empty if the route has no id. */
  id: string
}

/** @throws Fault `request_refused` if the request is invalid or the page does not exist */
type ConsolePageHandler = (asked: ConsoleRequest) => Promise<ConsolePage | { redirect: string }>

const routes: readonly (readonly [path: string, answer: ConsolePageHandler])[] = [
  ['/', showOverview],
  ['/mismatches', showMismatches],
  ['/mismatches/:id', showMismatch],
  ['/deposits', showDeposits],
  ['/deposits/find', findDeposit],
  ['/deposits/:id', showDeposit],
  ['/ledger', showLedger],
]

function choicesOf({ services, networks }: ConsoleReader): ConsoleChoices & ServicesShown {
  return { services, networks, hasSeveralServices: services.length > 1 }
}

async function showOverview({ reader, search }: ConsoleRequest): Promise<ConsolePage> {
  const { refresh } = readQuery(search, { refresh: oneOf(['30']) })
  return overviewPage(await reader.overview(), {
    isLive: refresh !== undefined,
    ...choicesOf(reader),
  })
}

async function showMismatches({ reader, search }: ConsoleRequest): Promise<ConsolePage> {
  const wish = mismatchFilter(search, reader)
  return mismatchesPage({ rows: await reader.mismatches(wish), wish, ...choicesOf(reader) })
}

async function showMismatch({ reader, search, id }: ConsoleRequest): Promise<ConsolePage> {
  readQuery(search, {})
  const shown = await readNumbered('mismatch', id, reader.mismatch)
  const runbook = reader.runbook(shown.mismatch.kind)
  return mismatchPage(shown, { runbook, ...choicesOf(reader) })
}

async function showDeposits({ reader, search }: ConsoleRequest): Promise<ConsolePage> {
  const wish = depositFilter(search, reader)
  return depositsPage({ rows: await reader.deposits(wish), wish, ...choicesOf(reader) })
}

async function findDeposit({ reader, search }: ConsoleRequest): Promise<ConsolePage | { redirect: string }> {
  const { reference = '' } = readQuery(search, { reference: shortText })
  const ids = reference === '' ? [] : await reader.findDeposits(reference)
  const [first] = ids
  if (first === undefined) throw missing('deposit', reference)
  return ids.length === 1 ? { redirect: `/deposits/${first}` } : foundPage(reference, ids)
}

/** A merged deposit redirects to the other. */
async function showDeposit({
  reader,
  search,
  id,
}: ConsoleRequest): Promise<ConsolePage | { redirect: string }> {
  readQuery(search, {})
  const shown = await readNumbered('deposit', id, reader.deposit)
  return shown.id.toString() === id
    ? depositPage(shown, choicesOf(reader))
    : { redirect: `/deposits/${shown.id}` }
}

async function showLedger({ reader, search }: ConsoleRequest): Promise<ConsolePage> {
  readQuery(search, {})
  return ledgerPage(await reader.ledger())
}

/** @throws Fault `request_refused` if there is none of this number */
async function readNumbered<Shown>(
  what: string,
  id: string,
  read: (id: bigint) => Promise<Shown | null>,
): Promise<Shown> {
  const shown = /^[1-9]\d{0,17}$/.test(id) ? await read(BigInt(id)) : null
  if (shown === null) throw missing(what, id)
  return shown
}

function problemPage(status: number, line: string): ConsolePage {
  const title = titles[status] ?? 'This cannot be shown'
  return {
    title,
    body: html`<h1>${title}</h1>
<p class="problem">${line}</p>
<p><a href="/">How it stands</a></p>`,
  }
}

const titles: Readonly<Record<number, string>> = {
  400: 'This cannot be asked',
  404: 'Not found',
  503: 'This cannot be read now',
}
