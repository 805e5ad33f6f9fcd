import { setTimeout as sleep } from 'node:timers/promises'

/** A lost connection, too few resources, a server that stops or starts (SQLSTATE); codes of Node. */
const codes =
  /^(?:08...|53...|57P0.|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/
/** pg gives these no code. */
const lost = /^(?:Connection terminated|Query read timeout|timeout exceeded when trying to connect)/

/** Also checks the causes of the error. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return codes.test(code) || lost.test(error.message) || isUnreachable(error.cause)
}

/** A database restarts within seconds, not minutes. */
const usualBounds = { maxMs: 60_000, retryEveryMs: 500, reportEveryMs: 10_000 }

/**
 * The work must be safe to repeat.
 * @param waiting receives the first failure, and another every ten seconds
 */
export async function untilReached<Result>(
  work: () => Promise<Result>,
  waiting: (error: unknown) => void,
  { maxMs, retryEveryMs, reportEveryMs } = usualBounds,
): Promise<Result> {
  const deadline = Date.now() + maxMs
  for (let reportAt = 0; ; await sleep(retryEveryMs)) {
    try {
      return await work()
    } catch (error) {
      const now = Date.now()
      if (!isUnreachable(error) || now >= deadline) throw error
      if (now < reportAt) continue
      waiting(error)
      reportAt = now + reportEveryMs
    }
  }
}

const insufficientPrivilege = '42501'

export function isDenied(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === insufficientPrivilege
}
