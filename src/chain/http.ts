import { messageOf } from '../core/errors.ts'
import type { Bounds } from './options.ts'

export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>

/**
 * A fetch that reads the whole answer within one deadline and one size, and follows no redirect. Libraries
 * bound the wait for the headers only, so that a node which drips its body would hold a scan for ever.
 * What it throws never contains the URL, which may hold a key.
 */
export function boundedFetch({ timeoutMs, bodyBytesMax }: Bounds): Fetch {
  return async (url, init) => {
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const response = await fetch(url, { ...init, redirect: 'error', signal })
      const body = await readBody(response, bodyBytesMax)
      return new Response(body, { status: response.status, headers: { 'content-type': 'application/json' } })
    } catch (error) {
      if (signal.aborted) throw new Error(`no whole answer within ${timeoutMs} ms`, { cause: error })
      throw new Error(innermostMessage(error), { cause: error })
    }
  }
}

async function readBody(response: Response, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new Error(`answer exceeds ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** `fetch` says only "fetch failed"; its cause says why. */
function innermostMessage(error: unknown): string {
  return error instanceof Error && error.cause !== undefined
    ? innermostMessage(error.cause)
    : messageOf(error)
}
