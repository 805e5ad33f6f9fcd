import type { Connection } from './options.ts'

type Request<Result> = {
  method: string
  send: () => Promise<Result>
  /** Tells an answer that is an error. */
  isError?: (answer: Result) => boolean
}

/** Sends one request and tells the observer how it went and how long it took. */
export async function observed<Result>(
  { network, observe }: Connection,
  { method, send, isError = () => false }: Request<Result>,
): Promise<Result> {
  const startedMs = performance.now()
  let outcome: 'ok' | 'error' = 'error'
  try {
    const answer = await send()
    outcome = isError(answer) ? 'error' : 'ok'
    return answer
  } finally {
    observe({ network, method, outcome, seconds: (performance.now() - startedMs) / 1000 })
  }
}
