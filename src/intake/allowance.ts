type TokenBucketLimits = {
  /** How much is given back in a second, and how much there is after a pause. */
  perSecond: number
  atOnce: number
  /** Names that are remembered; the one that was asked for longest ago is forgotten first. */
  namesMax: number
}

/** Says whether one more is within the allowance of a name, and takes it where it is. `now` is in milliseconds. */
export type TokenBuckets = (name: string, now: number) => boolean

/** Token buckets by name, in bounded memory. */
export function createAllowance({ perSecond, atOnce, namesMax }: TokenBucketLimits): TokenBuckets {
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
