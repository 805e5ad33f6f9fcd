/**
 * Maps items with at most `atOnce` concurrent calls; the results keep the order. After a failure no further call
 * starts.
 */
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
