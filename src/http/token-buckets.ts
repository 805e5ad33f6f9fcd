/** `burst` tokens, refilled at `perSecond`. */
export type RateLimit = { perSecond: number; burst: number }

export type RateLimitVerdict = {
  allowed: boolean
  remaining: number
  /** Until the bucket is full again. */
  resetSeconds: number
  /** 0 if a token was available. */
  retryAfterSeconds: number
}

/** The least recently used bucket is dropped, which fills it. */
const namesMaxDefault = 10_000

/**
 * Bounded memory. Each process counts separately, and a restart fills every bucket. `nowMs` may be of any one clock.
 */
export function createTokenBuckets({ perSecond, burst }: RateLimit, namesMax = namesMaxDefault) {
  const buckets = new Map<string, { left: number; atMs: number }>()
  const leftOf = (name: string, nowMs: number): number => {
    const bucket = buckets.get(name)
    if (bucket === undefined) return burst
    return Math.min(burst, bucket.left + (Math.max(0, nowMs - bucket.atMs) * perSecond) / 1000)
  }
  const set = (name: string, left: number, atMs: number): void => {
    // Inserted again: the first entry of the map is the least recently used.
    buckets.delete(name)
    buckets.set(name, { left, atMs })
    const [idlest] = buckets.keys()
    if (buckets.size > namesMax && idlest !== undefined) buckets.delete(idlest)
  }
  return {
    take(name: string, nowMs: number): RateLimitVerdict {
      const before = leftOf(name, nowMs)
      const allowed = before >= 1
      const left = allowed ? before - 1 : before
      set(name, left, nowMs)
      return {
        allowed,
        remaining: Math.floor(left),
        resetSeconds: Math.ceil((burst - left) / perSecond),
        retryAfterSeconds: allowed ? 0 : Math.ceil((1 - left) / perSecond),
      }
    },
    giveBack: (name: string, nowMs: number): void =>
      set(name, Math.min(burst, leftOf(name, nowMs) + 1), nowMs),
  }
}
