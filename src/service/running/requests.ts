import { BaseError } from 'viem'
import { messageOf } from '../../core/errors.ts'

/** Keeps the order. After a failure no further call starts. */
export async function mapBounded<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const waiting = items.entries()
  const results: [place: number, result: Result][] = []
  let failed = false
  const worker = async (): Promise<void> => {
    for (const [place, item] of waiting) {
      if (failed) return
      try {
        results.push([place, await work(item)])
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  return results.toSorted(([left], [right]) => left - right).map(([, result]) => result)
}

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

/** Errors of RPC clients contain URLs, which may contain a key. */
export function describeError(error: unknown): string {
  const text = error instanceof BaseError ? `${error.shortMessage} ${error.details}` : messageOf(error)
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/https?:\/\/\S+/g, '(address)')
    .trim()
    .slice(0, 300)
}
