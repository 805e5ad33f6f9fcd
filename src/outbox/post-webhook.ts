import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns'
import {
  type Agent,
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { isPrivateUrl, isPublicAddress } from './webhook-url.ts'

export type DeliveryProblem =
  | 'timed_out'
  | 'stopped'
  | 'address_refused'
  | 'name_unknown'
  | 'connection_refused'
  | 'connection_lost'
  | 'tls_failed'
  | 'answer_malformed'
  | 'unreachable'

/** `text`: the beginning of the body, safe to store. `code`: of the error of the connection, if it has one. */
export type EndpointAnswer =
  | { kind: 'answered'; status: number; text: string; retryAfter: string | null }
  | { kind: 'unanswered'; problem: DeliveryProblem; code?: string }

export type OutgoingWebhook = { url: string; headers: Readonly<Record<string, string>>; body: string }

export type Poster = {
  /** Never throws, and does not follow redirects. */
  post(post: OutgoingWebhook, stopping: AbortSignal): Promise<EndpointAnswer>
  close(): void
}

export const answerTextMax = 500

/** The timeout covers the whole attempt, from name resolution to the end of the response. */
export type PosterSettings = {
  allowPrivate: boolean
  timeoutMs: number
  /** The system resolver by default. */
  resolve?: Resolve
}

/**
 * Without `allowPrivate`, names are checked as part of the connection, so that they cannot resolve to another host
 * afterwards.
 */
export function openPoster({ allowPrivate, timeoutMs, resolve }: PosterSettings): Poster {
  const agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) }
  return {
    post: (post, stopping) => {
      const url = new URL(post.url)
      if (!allowPrivate && isPrivateUrl(post.url)) {
        return Promise.resolve({ kind: 'unanswered', problem: 'address_refused' })
      }
      const connection = {
        agent: url.protocol === 'https:' ? agents.https : agents.http,
        ...(!allowPrivate && { lookup: openPublicLookup(resolve) }),
      }
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)])
      return send(post, { url, connection, signal, stopping })
    },
    close: () => {
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

type WebhookPost = Omit<OutgoingWebhook, 'body'> & {
  body: Buffer
  timeoutMs: number
  /** If absent, 202 alone. */
  accepts?: (status: number) => boolean
}

/** From the status alone: the content is not trusted. */
export type WebhookPostResult =
  | { kind: 'accepted' }
  | { kind: 'redirected' | 'refused' | 'failed' | 'timeout'; problem: string }

/**
 * Posts on a connection of its own, to any address: those of the settings may be private. A problem has nothing of the
 * request.
 */
export async function postOnce({
  url,
  headers: signature,
  body,
  timeoutMs,
  accepts = (status) => status === 202,
}: WebhookPost): Promise<WebhookPostResult> {
  const poster = openPoster({ allowPrivate: true, timeoutMs })
  const headers = { 'content-type': 'application/json', ...signature }
  const answer = await poster.post({ url, headers, body: body.toString() }, new AbortController().signal)
  poster.close()
  if (answer.kind === 'unanswered')
    return answer.problem === 'timed_out'
      ? { kind: 'timeout', problem: `no answer within ${timeoutMs} ms` }
      : { kind: 'failed', problem: answer.code ?? answer.problem }
  const { status } = answer
  if (accepts(status)) return { kind: 'accepted' }
  return { kind: status >= 300 && status < 400 ? 'redirected' : 'refused', problem: `answered ${status}` }
}

type EndpointPostOptions = {
  url: URL
  connection: { agent: Agent; lookup?: LookupFunction }
  signal: AbortSignal
  stopping: AbortSignal
}

function send(
  { headers, body }: OutgoingWebhook,
  { url, connection, signal, stopping }: EndpointPostOptions,
): Promise<EndpointAnswer> {
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
    ...connection,
    method: 'POST',
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    signal,
  })
  const answer = answerOf(request, stopping)
  request.end(body)
  return answer
}

/** A response whose body breaks off still counts. */
async function answerOf(request: ClientRequest, stopping: AbortSignal): Promise<EndpointAnswer> {
  try {
    const response = await responseTo(request)
    const { statusCode: status = 0, headers } = response
    const retryAfter = headers['retry-after'] ?? null
    return { kind: 'answered', status, text: await readText(response), retryAfter }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const problem = stopping.aborted ? 'stopped' : problemOf(error, code)
    return { kind: 'unanswered', problem, ...(code !== '' && { code }) }
  }
}

function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request.on('response', resolve)
  request.on('error', reject)
  // An unrequested upgrade closes the connection without an error.
  request.on('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
  return promise
}

async function readText(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      parts.push(part)
      // Leaving the loop closes the connection, so that an endless response cannot occupy it.
      if (parts.reduce((sum, { length }) => sum + length, 0) >= answerTextMax * 4) break
    }
  } catch {
    // Keeps the text received so far.
  }
  return storable(Buffer.concat(parts).toString())
}

/** Control characters, which Postgres or a terminal may reject, and echoed secrets are removed. */
function storable(text: string): string {
  return text
    .replaceAll(/wh(?:sec|sk)_[A-Za-z0-9+/=]+/g, '(secret)')
    .replaceAll(/[\p{Cc}\p{Cs}]+/gu, ' ')
    .slice(0, answerTextMax)
    .trim()
}

const problems: readonly [RegExp, DeliveryProblem][] = [
  [/^ERR_ADDRESS_REFUSED$/, 'address_refused'],
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(?:ECONNRESET|EPIPE)$/, 'connection_lost'],
  [/^(?:ENOTFOUND|EAI_)/, 'name_unknown'],
  [/^HPE_/, 'answer_malformed'],
  [/CERT|TLS|SSL|VERIFY|EPROTO/, 'tls_failed'],
]

function problemOf(error: unknown, code: string): DeliveryProblem {
  if (error instanceof Error && /^(?:Abort|Timeout)Error$/.test(error.name)) return 'timed_out'
  return problems.find(([form]) => form.test(code))?.[1] ?? 'unreachable'
}

export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** Fails if any address is not public. */
export function openPublicLookup(resolve: Resolve = lookup): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const [first] = found ?? []
      if (error !== null) return done(error, [])
      if (first === undefined || !found.every(({ address }) => isPublicAddress(address))) {
        return done(Object.assign(new Error('not a public address'), { code: 'ERR_ADDRESS_REFUSED' }), [])
      }
      return options.all === true ? done(null, found) : done(null, first.address, first.family)
    })
  }
}
