/** In order; only the last one may be shorter. */
export function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}

/** Keeps the order. After the first failure no further call starts. */
export async function mapBounded<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const waiting = items.entries()
  let failed = false
  const lane = async () => {
    for (const [place, item] of waiting) {
      if (failed) return
      results[place] = await work(item)
    }
  }
  const lanes = Array.from({ length: Math.min(atOnce, items.length) }, lane)
  await Promise.all(lanes).catch((error: unknown) => {
    failed = true
    throw error
  })
  return results
}
