/** `unasked`: the service did not answer. */
export type KeyScope = 'read' | 'write' | 'refused' | 'unknown' | 'unasked'

/**
 * Determines what a key may do without side effects: requests a creation with a body that is not JSON, which no service
 * can execute. A key without the right to create is refused for that reason, any other for the body. If the service
 * checks the body before the key, the result is `unknown`.
 */
export async function probeScope(
  service: { url: string; apiKey: string; timeoutMs: number },
  creationPath: string,
): Promise<KeyScope> {
  const withKey = await statusOf(service, creationPath, { 'x-api-key': service.apiKey })
  if (withKey === null) return 'unasked'
  if (withKey === 401) return 'refused'
  if (withKey === 403) return 'read'
  const withoutKey = await statusOf(service, creationPath, {})
  const isKeyFirst = withoutKey === 401 || withoutKey === 403
  return isKeyFirst && (withKey === 400 || withKey === 422) ? 'write' : 'unknown'
}

/** Null if there was no answer. */
async function statusOf(
  { url, timeoutMs }: { url: string; timeoutMs: number },
  path: string,
  headers: Record<string, string>,
): Promise<number | null> {
  try {
    const response = await fetch(new URL(url.replace(/\/*$/, () => path)), {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{',
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    await response.body?.cancel()
    return response.status
  } catch {
    return null
  }
}
