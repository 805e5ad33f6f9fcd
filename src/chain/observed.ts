import type { Connection } from './options.ts'

/** Runs one request and tells the observer how it went and how long it took. */
export async function observed<Result>(
  { network, observe }: Connection,
  method: string,
  request: () => Promise<Result>,
): Promise<Result> {
  const startedMs = performance.now()
  const tell = (outcome: 'ok' | 'error') =>
    observe({ network, method, outcome, seconds: (performance.now() - startedMs) / 1000 })
  try {
    const result = await request()
    tell('ok')
    return result
  } catch (error) {
    tell('error')
    throw error
  }
}
