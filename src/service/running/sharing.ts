/** Coalesces concurrent requests with the same key into one. */
export type RequestCoalescer = <Answer>(key: string, ask: () => Promise<Answer>) => Promise<Answer>

/** A key must always stand for the same request. */
export function createRequestCoalescer(): RequestCoalescer {
  const underWay = new Map<string, Promise<unknown>>()
  return <Answer>(key: string, ask: () => Promise<Answer>) => {
    const asked =
      underWay.get(key) ??
      ask().finally(() => {
        underWay.delete(key)
      })
    underWay.set(key, asked)
    return asked as Promise<Answer>
  }
}
