/** A bucket of `burst` requests, that fills again by `perSecond`. */
export type RateLimit = { perSecond: number; burst: number }

export type RateLimitVerdict = {
  allowed: boolean
  /** How many more are allowed at once. */
  remaining: number
  /** Until the bucket is full again. */
  resetSeconds: number
  /** Until the next request is allowed; 0 where it is already. */
  retryAfterSeconds: number
}

export type RateLimiter = {
  /** Takes one request out of the bucket of that name. */
  take(name: string): RateLimitVerdict
  /** Puts one back. */
  giveBack(name: string): void
}

type Bucket = { left: number; atMs: number }

/** More names than this are not remembered: whoever has not called for longest starts with a full bucket. */
const namesMax = 10_000

/** In memory: each process of the service counts for itself, and a restart fills every bucket. */
export function createRateLimiter({ perSecond, burst }: RateLimit, nowMs: () => number): RateLimiter {
  const buckets = new Map<string, Bucket>()
  const read = (name: string): number => {
    const bucket = buckets.get(name)
    if (bucket === undefined) return burst
    return Math.min(burst, bucket.left + ((nowMs() - bucket.atMs) * perSecond) / 1000)
  }
  const write = (name: string, left: number): void => {
    // Put anew, so that the first name of the map is the one that was idle for longest.
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
