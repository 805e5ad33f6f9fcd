import { messageOf } from '../../core/errors.ts'

export type CanaryPost = {
  url: string
  headers: Readonly<Record<string, string>>
  body: Buffer
  timeoutMs: number
}

/** How a post ended: by its status alone, for what stands at the other end is not believed. */
export type CanaryPostResult =
  | { kind: 'accepted' }
  | { kind: 'redirected' | 'refused' | 'failed' | 'timeout'; problem: string }

/**
 * Posts once to that address and to no other: a redirect is told and not followed, and of the answer nothing is read
 * but its status.
 */
export async function postWebhook({ url, headers, body, timeoutMs }: CanaryPost): Promise<CanaryPostResult> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: new Uint8Array(body),
      redirect: 'manual',
      signal,
    })
    await response.body?.cancel()
    return verdictOf(response.status)
  } catch (error) {
    if (signal.aborted) return { kind: 'timeout', problem: `no answer within ${timeoutMs} ms` }
    return { kind: 'failed', problem: problemOf(error) }
  }
}

function verdictOf(status: number): CanaryPostResult {
  if (status === 202) return { kind: 'accepted' }
  const isRedirect = status >= 300 && status < 400
  return { kind: isRedirect ? 'redirected' : 'refused', problem: `answered ${status}` }
}

/** What failed, where `fetch` only says that it did. Of the cause the code alone: the rest may repeat what was sent. */
function problemOf(error: unknown): string {
  const cause: unknown = error instanceof TypeError ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code : messageOf(error)
}
