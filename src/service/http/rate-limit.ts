/** A token bucket of `burst` requests, refilled at `perSecond`. */
export type RateLimit = { perSecond: number; burst: number }

export type RateLimitVerdict = {
  allowed: boolean
  /** How many more requests are allowed immediately. */
  remaining: number
  /** Until the bucket is full again. */
  resetSeconds: number
  /** Until the next request is allowed; 0 if it is allowed now. */
  retryAfterSeconds: number
}

export type RateLimiter = {
  /** Takes one token from the bucket of this name. */
  take(name: string): RateLimitVerdict
  /** Returns one token. */
  giveBack(name: string): void
}

type Bucket = { left: number; atMs: number }

/** The maximum number of buckets. Beyond it, the least recently used bucket is dropped, which fills it. */
const namesMax = 10_000

/** Buckets are in memory: each process counts separately, and a restart fills every bucket. */
export function createRateLimiter({ perSecond, burst }: RateLimit, nowMs: () => number): RateLimiter {
  const buckets = new Map<string, Bucket>()
  const read = (name: string): number => {
    const bucket = buckets.get(name)
    if (bucket === undefined) return burst
    return Math.min(burst, bucket.left + ((nowMs() - bucket.atMs) * perSecond) / 1000)
  }
  const write = (name: string, left: number): void => {
    // Inserted again, so that the first entry of the map is the least recently used.
    buckets.delete(name)
    buckets.set(name, { left, atMs: nowMs() })
    const [idlest] = buckets.keys()
    if (buckets.size > namesMax && idlest !== undefined) buckets.delete(idlest)
  }
  return {
    take: (name) => {
      const before = read(name)
      const allowed = before >= 1
      const left = allowed ? before - 1 : before
      write(name, left)
      return {
        allowed,
        remaining: Math.floor(left),
        resetSeconds: Math.ceil((burst - left) / perSecond),
        retryAfterSeconds: allowed ? 0 : Math.ceil((1 - left) / perSecond),
      }
    },
    giveBack: (name) => write(name, Math.min(burst, read(name) + 1)),
  }
}
