/** Asks once for all who ask for the same before the answer is there. */
export type RequestCoalescer = <Answer>(key: string, ask: () => Promise<Answer>) => Promise<Answer>

/** What one key stands for must always be the same question. */
export function createShare(): RequestCoalescer {
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
