import { messageOf } from '../core/errors.ts'
import { readRetryAfter } from '../http/retry-after.ts'
import type { NodeConnection } from './options.ts'

/** One complete response. `retryAfterMs` is the wait that the server asks for; null if it asks for none. */
export type NodeReply = { status: number; text: string; retryAfterMs: number | null }

/**
 * Posts JSON and reads the whole response within one deadline and one size limit; follows no redirect. HTTP libraries
 * limit only the wait for the headers, so a node that trickles its body would block a scan indefinitely. Errors never
 * contain the URL, which may hold a key.
 */
export async function postJson({ url, bounds }: NodeConnection, body: string): Promise<NodeReply> {
  const signal = AbortSignal.timeout(bounds.timeoutMs)
  try {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal })
    const bytes = await readBody(response, bounds.bodyBytesMax)
    return {
      status: response.status,
      text: bytes.toString('utf8'),
      retryAfterMs: readRetryAfter(response.headers.get('retry-after'), new Date()),
    }
  } catch (error) {
    if (signal.aborted) throw new Error(`no whole answer within ${bounds.timeoutMs} ms`, { cause: error })
    if (error instanceof TooLarge) throw error
    throw new ConnectionProblem(innermostMessage(error), { cause: error })
  }
}

/** The connection failed or broke. A retry may help, unlike after a timeout. */
export class ConnectionProblem extends Error {}

class TooLarge extends Error {}

async function readBody(response: Response, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new TooLarge(`answer exceeds ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** `fetch` reports only "fetch failed"; its cause has the reason. */
function innermostMessage(error: unknown): string {
  if (error instanceof Error && error.cause !== undefined) return innermostMessage(error.cause)
  const message = messageOf(error)
  return message === 'unexpected redirect' ? redirected : message
}

const redirected = 'a redirect, which is not followed: the RPC setting has to name the address it leads to'
