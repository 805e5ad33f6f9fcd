import { messageOf } from '../core/errors.ts'
import { readRetryAfter } from '../core/retry-after.ts'
import { parseLossless } from './lossless-json.ts'

export type HttpSettings = {
  /** Every path is relative to it. */
  url: string
  apiKey: string
  /** How long one request may take, its answer included. */
  timeoutMs: number
}

/** `path` may carry a query. */
export type HttpRequest = { method: 'GET' | 'POST'; path: string; body?: object }

/** How one request ended. */
export type HttpResult =
  | { kind: 'answered'; body: unknown; link: string | null }
  /** Asked again, the service would say the same. */
  | { kind: 'refused'; status: number; problem: string }
  /** Asked later, it may answer. */
  | { kind: 'limited' | 'failed'; problem: string; retryAfterMs: number | null }

const answerBytesMax = 16 * 1024 * 1024

/** Sends one request. What goes wrong is told without the key or a password of the address. */
export async function sendRequest(
  settings: HttpSettings,
  request: HttpRequest,
  now: () => Date,
): Promise<HttpResult> {
  const shown = (text: string) => withoutSecrets(text, settings)
  try {
    const response = await send(settings, request)
    const text = await readBounded(response)
    if (response.ok)
      return { kind: 'answered', body: readJson(text, shown), link: response.headers.get('link') }
    // Shown before it is cut, so that no part of a secret is left at the edge.
    return complaintOf(response, `${response.status} ${shown(text).slice(0, 300)}`, now())
  } catch (error) {
    // Without the cause: errors of fetch repeat headers and addresses.
    return { kind: 'failed', problem: shown(problemOf(error)), retryAfterMs: null }
  }
}

function send({ url, apiKey, timeoutMs }: HttpSettings, { method, path, body }: HttpRequest) {
  return fetch(new URL(url.replace(/\/*$/, () => path)), {
    method,
    headers: {
      'x-api-key': apiKey,
      accept: 'application/json',
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    // A redirect could carry the key to another host.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
}

/** The bound is on what is unpacked, so that a small answer that unpacks without end is cut off, too. */
async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > answerBytesMax) throw new Error('the answer is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** What stands in front of a service may answer 200 with a page of its own. */
function readJson(text: string, shown: (text: string) => string): unknown {
  try {
    return parseLossless(text)
  } catch (error) {
    throw new Error(`the answer is no JSON: ${shown(text).slice(0, 80)}`, { cause: error })
  }
}

function complaintOf({ status, headers }: Response, problem: string, now: Date): HttpResult {
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), now)
  if (status === 429) return { kind: 'limited', problem, retryAfterMs }
  if (status >= 500 || status === 408) return { kind: 'failed', problem, retryAfterMs }
  return { kind: 'refused', status, problem }
}

/** What failed, where `fetch` only says that it did. */
function problemOf(error: unknown): string {
  const isVague = error instanceof TypeError && error.cause !== undefined
  return explained(messageOf(isVague ? error.cause : error))
}

/** In the words of `fetch` a redirect is only unexpected. */
function explained(message: string): string {
  return message === 'unexpected redirect'
    ? 'it answers with a redirect, which is not followed: SERVICE_URL has to be the address it leads to'
    : message
}

/** A server may repeat what it was sent, and so does fetch where it refuses to send it. */
function withoutSecrets(text: string, { url, apiKey }: HttpSettings): string {
  const secrets = [apiKey, new URL(url).password].filter((secret) => secret !== '')
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '[secret]'), text)
}
