import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import { isFault } from '../../core/errors.ts'
import { networkOf, plainAddress } from '../../http/client-address.ts'
import { createTokenBuckets } from '../../http/token-buckets.ts'
import type { UploadedFile } from '../../store/mismatches/attachments.ts'
import { checkForm, cookieOptions, fieldOf, readForm, readUpload, sessionCookie, tokenOf } from './forms.ts'
import { html } from './html.ts'
import { type ConsolePage, documentOf, type Frame, icon, iconPath } from './page.ts'
import { type ConsolePeople, type ConsoleUser, signedIn } from './people.ts'
import { missing } from './query.ts'
import type { ConsoleReader } from './reader.ts'
import type { ConsoleAnswer, ConsoleHandler, ConsoleRequest } from './request.ts'
import { routes } from './routes.ts'
import { ZipWriter } from './zip.ts'

const style = readFileSync(join(import.meta.dirname, 'console.css'), 'utf8')
const stylePath = pathOf(style, 'css')

const script = readFileSync(join(import.meta.dirname, 'console.js'), 'utf8')
const scriptPath = pathOf(script, 'js')

const files = [
  [stylePath, 'text/css', style],
  [scriptPath, 'text/javascript', script],
  [iconPath, 'image/svg+xml', icon],
] as const

/** The name changes with the content, so browsers may cache it. */
function pathOf(text: string, extension: string): string {
  return `/console-${createHash('sha256').update(text).digest('hex').slice(0, 12)}.${extension}`
}

/** The pages load nothing from elsewhere, send forms to no other site, and cannot be framed. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

export type ConsoleSite = {
  pages: RequestHandler
  /** For requests without the token of the settings. */
  admits: (request: Request) => Promise<boolean>
}

export function serveConsole(reader: ConsoleReader, people: ConsolePeople): ConsoleSite {
  const router = Router()
  router.use(refuseOddPaths)
  const limit = limitSignIns()
  for (const [path, { get, post, isPublic, takesFile = false }] of Object.entries(routes)) {
    const route = router.route(path)
    if (isPublic) route.all(limit, leadTo(people.origin))
    const by =
      (answer: ConsoleHandler): RequestHandler =>
      (request, response) =>
        show(request, response, { reader, people, answer, takesFile })
    if (get !== undefined) route.get(protect, by(get))
    if (post !== undefined) route.post(protect, takesFile ? [] : readForm, by(post))
    route.all(refuseMethod([...(get ? ['GET', 'HEAD'] : []), ...(post ? ['POST'] : [])]))
  }
  for (const [path, type, text] of files)
    router
      .route(path)
      .get(protect, serveFile(type, text))
      .all(refuseMethod(['GET', 'HEAD']))
  router.use(protect, (request, response) => {
    const answer = () => Promise.reject(missing('page', request.path))
    return show(request, response, { reader, people, answer, takesFile: false })
  })
  return { pages: router, admits: (request) => admits(people, request) }
}

/** Per client; an office may be one. */
const signInLimit = { perSecond: 1, burst: 120 }

function limitSignIns(): RequestHandler {
  const buckets = createTokenBuckets(signInLimit)
  return ({ socket }, response, next) => {
    const { allowed, retryAfterSeconds } = buckets.take(
      networkOf(plainAddress(socket.remoteAddress ?? '')),
      performance.now(),
    )
    if (allowed) return next()
    response
      .status(429)
      .set('Retry-After', String(retryAfterSeconds))
      .type('text/plain')
      .send('too many sign-ins\n')
  }
}

/** Passkeys are bound to a name, and `localhost` has the addresses of loopback. */
function leadTo(origin: string): RequestHandler {
  const isLocal = new URL(origin).hostname === 'localhost'
  return ({ method, originalUrl, headers }, response, next) => {
    const isAddress = /^(?:127\.|\[::1\])/.test(headers.host ?? '')
    if (isLocal && isAddress && method === 'GET') response.redirect(303, origin + originalUrl)
    else next()
  }
}

/** Without the token of the settings, people who are signed in may read, and others may sign in. */
async function admits(people: ConsolePeople, request: Request): Promise<boolean> {
  const isFile = files.some(([path]) => path === request.path)
  const isPublic = Object.entries(routes).some(
    ([path, route]) => route.isPublic && request.path.startsWith(path.replace('/:id', '/')),
  )
  const token = tokenOf(request)
  return isFile || isPublic || (token !== null && (await people.userOf(token)) !== null)
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

function refuseMethod(allowed: readonly string[]): RequestHandler {
  return (_request, response) =>
    void response.status(405).set('Allow', allowed.join(', ')).type('text/plain').send('use another method\n')
}

function serveFile(type: string, text: string): RequestHandler {
  return (_request, response) =>
    void response.set('Cache-Control', 'public, max-age=86400').type(type).send(text)
}

type ShowDeps = Pick<ConsoleRequest, 'reader' | 'people'> & { answer: ConsoleHandler; takesFile: boolean }

/** Errors of the program itself are rethrown. */
async function show(
  request: Request,
  response: Response,
  { answer, takesFile, ...deps }: ShowDeps,
): Promise<void> {
  const { version, dashboards } = deps.reader
  const frame: Frame = { version, stylePath, scriptPath, dashboards, now: new Date(), person: null }
  try {
    const token = tokenOf(request)
    const user = token === null ? null : await deps.people.userOf(token)
    frame.person = user?.person ?? null
    const file = await readBody(request, user, takesFile)
    const { id = '' } = request.params
    const [, query = ''] = request.url.split('?', 2)
    const search = new URLSearchParams(query)
    const field = (name: string) => fieldOf(request, name)
    const asked = { ...deps, search, id: String(id), token, user, field, file }
    await send(response, await answer(asked), frame)
  } catch (error) {
    sendProblem(request, response, { error, frame })
  }
}

/** Reads a file only of people who are signed in. */
async function readBody(
  request: Request,
  user: ConsoleUser | null,
  takesFile: boolean,
): Promise<UploadedFile | null> {
  if (request.method !== 'POST') return null
  const file = takesFile && signedIn(user) ? await readUpload(request) : null
  checkForm(request)
  return file
}

function sendProblem(
  request: Request,
  response: Response,
  { error, frame }: { error: unknown; frame: Frame },
): void {
  const problem = problemOf(error)
  if (problem === null) throw error
  const { status, line } = problem
  response.status(status)
  if (status === 503) response.set('Retry-After', '5')
  if (request.accepts(['text/plain', 'text/html']) === 'text/html')
    response.type('text/html').send(documentOf(problemPage(status, line), frame))
  else response.type('text/plain').send(`${line}\n`)
}

async function send(response: Response, answer: ConsoleAnswer, frame: Frame): Promise<void> {
  if ('write' in answer) return sendArchive(response, answer)
  if ('bytes' in answer)
    return void response
      .attachment(answer.download)
      .set({
        'Content-Type': 'application/octet-stream',
        'Content-Security-Policy': "default-src 'none'; sandbox",
      })
      .send(answer.bytes)
  if ('download' in answer) return void response.attachment(answer.download).send(answer.text)
  const { token } = answer
  if (token === '') response.clearCookie(sessionCookie, cookieOptions)
  else if (token !== undefined) response.cookie(sessionCookie, token, cookieOptions)
  if ('redirect' in answer) return response.redirect(303, answer.redirect)
  response.type('text/html').send(documentOf(answer, frame))
}

/** What fails before the first byte is answered as on any page; later, the download breaks off. */
async function sendArchive(
  response: Response,
  { download, write }: Extract<ConsoleAnswer, { write: unknown }>,
): Promise<void> {
  const archive = new ZipWriter()
  const sent = pipeline(archive.output, receiverOf(response, download))
  sent.catch((error: unknown) => archive.abort(error))
  try {
    await write(archive)
    archive.finish()
    await sent
  } catch (error) {
    if (!response.headersSent) throw error
    response.destroy()
  }
}

/** The name goes with the first byte, so that what fails before it can be answered. */
function receiverOf(response: Response, download: string): Writable {
  const receiver = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!response.headersSent) response.attachment(download)
      response.write(chunk, done)
    },
    final(done) {
      response.end(done)
    },
  })
  response.once('close', () => receiver.destroy())
  return receiver
}

/** Null for an unexpected error. */
function problemOf(error: unknown): { status: number; line: string } | null {
  if (isFault(error, 'request_refused')) return { status: error.details.status, line: error.details.problem }
  if (isFault(error, 'remote_failed'))
    return { status: 503, line: `${error.details.what}: ${error.details.problem}` }
  if (isFault(error, 'usage_bad') || isFault(error, 'not_found'))
    return { status: 409, line: `${error.details.problem}: ${error.details.fix}` }
  if (isFault(error, 'settings_bad')) return { status: 409, line: error.details.faults.join('; ') }
  return null
}

function problemPage(status: number, line: string): ConsolePage {
  const title = titles[status] ?? 'This cannot be shown'
  return {
    title,
    body: html`<h1>${title}</h1>
<p class="problem">${line}</p>
${status === 404 ? whereElse : html`<p><a href="/">How it stands</a></p>`}`,
  }
}

const whereElse = html`<p>The address may be mistyped or outdated. The field above finds a deposit by its number, the id of the service, or a transaction. The lists have all others:</p>
<ul><li><a href="/">Overview</a></li>
<li><a href="/mismatches?status=all">All mismatches</a>, also resolved and cleared ones</li>
<li><a href="/deposits">Deposits</a></li>
<li><a href="/decisions">Decisions</a></li>
<li><a href="/webhooks">Webhooks in quarantine</a></li></ul>`

const titles: Readonly<Record<number, string>> = {
  400: 'This cannot be asked',
  401: 'You are signed out',
  403: 'This is refused',
  404: 'Not found',
  409: 'This cannot be done',
  413: 'This is too large',
  503: 'This cannot be read now',
}
