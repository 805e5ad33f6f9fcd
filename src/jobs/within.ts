import { Fault } from '../core/errors.ts'

/**
 * Waits for the promise, but no longer than that. What it waits for is not ended by it.
 * @throws Fault `remote_failed` naming what took too long
 */
export async function within<Value>(
  timeoutMs: number,
  what: string,
  promise: Promise<Value>,
): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new Fault('remote_failed', { what, problem: `no answer within ${timeoutMs} ms` }))
  }, timeoutMs)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
