import { messageOf } from '../core/errors.ts'
import { readRetryAfter } from '../http/retry-after.ts'
import { parseLossless } from './lossless-json.ts'

export type HttpSettings = {
  /** Base of every path. */
  url: string
  apiKey: string
  /** Time limit of one request, including its answer. */
  timeoutMs: number
}

/** `path` may include a query. */
export type HttpRequest = { method: 'GET' | 'POST'; path: string; body?: object }

/** Result of one request. */
export type HttpResult =
  | { kind: 'answered'; body: unknown; link: string | null }
  /** A repeated request would get the same answer. */
  | { kind: 'refused'; status: number; problem: string }
  /** A later request may succeed. */
  | { kind: 'limited' | 'failed'; problem: string; retryAfterMs: number | null }

const answerBytesMax = 16 * 1024 * 1024

/** Sends one request. Problems are described without the key or a password in the URL. */
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
    // Masks secrets before truncating, so that no part of one remains at the end.
    return complaintOf(response, `${response.status} ${shown(text).slice(0, 300)}`, now())
  } catch (error) {
    // Leaves out the cause: errors of fetch repeat headers and URLs.
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
    // A redirect could send the key to another host.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
}

/** Bounds the decompressed size, so that a compression bomb is cut off too. */
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

/** A proxy in front of the service may answer 200 with a page of its own. */
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

/** Finds the cause behind the generic error of `fetch`. */
function problemOf(error: unknown): string {
  const isVague = error instanceof TypeError && error.cause !== undefined
  return explained(messageOf(isVague ? error.cause : error))
}

/** `fetch` reports a redirect only as unexpected. */
function explained(message: string): string {
  return message === 'unexpected redirect'
    ? 'it answers with a redirect, which is not followed: SERVICE_URL has to be the address it leads to'
    : message
}

/** A server may repeat what it received, and so does fetch if it refuses to send it. */
function withoutSecrets(text: string, { url, apiKey }: HttpSettings): string {
  const secrets = [apiKey, new URL(url).password].filter((secret) => secret !== '')
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '[secret]'), text)
}
