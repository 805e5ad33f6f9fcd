type TokenBucketLimits = {
  /** Refill rate, and the capacity of a bucket. */
  perSecond: number
  atOnce: number
  /** Maximum names remembered; the least recently used is dropped first. */
  namesMax: number
}

/** Takes a token of the name's bucket and returns whether there was one. `now` is in milliseconds. */
export type TokenBuckets = (name: string, now: number) => boolean

/** Token buckets by name, in bounded memory. */
export function createTokenBuckets({ perSecond, atOnce, namesMax }: TokenBucketLimits): TokenBuckets {
  const left = new Map<string, { tokens: number; at: number }>()
  return (name, now) => {
    const { tokens, at } = left.get(name) ?? { tokens: atOnce, at: now }
    const regained = Math.min(atOnce, tokens + (Math.max(0, now - at) / 1000) * perSecond)
    const isGranted = regained >= 1
    left.delete(name)
    left.set(name, { tokens: isGranted ? regained - 1 : regained, at: now })
    if (left.size > namesMax) for (const oldest of left.keys().take(1)) left.delete(oldest)
    return isGranted
  }
}
