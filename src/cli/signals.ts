const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type Signal = (typeof signals)[number]

/** One key press may arrive twice, from the terminal and from npm; only a later one is urgent. */
const urgentAfterMs = 1500

/** Resolves at the first request to stop. A later one ends the process at once. */
export function untilSignal(asked: readonly Signal[] = signals): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let askedAt = 0
  for (const signal of asked) {
    process.on(signal, () => {
      if (askedAt !== 0 && Date.now() - askedAt > urgentAfterMs) process.exit(130)
      if (askedAt === 0) askedAt = Date.now()
      resolve(signal)
    })
  }
  return promise
}
