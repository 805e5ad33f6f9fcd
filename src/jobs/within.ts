import { Fault } from '../core/errors.ts'

/** A timeout does not stop the underlying work. @throws Fault `remote_failed` that names the operation */
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
