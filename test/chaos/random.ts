/** A sequence that a seed decides, so that a printed seed makes the same choices again. */
export type Random = {
  /** From 0 up to, not including, 1. */
  fraction: () => number
  /** A whole number from `min` to `max`, both included. */
  between: (min: number, max: number) => number
  pick: <One>(from: readonly One[]) => One
  shuffled: <One>(from: readonly One[]) => One[]
}

/** Mulberry32: 32 bits of state are plenty for a plan of some dozen choices. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const between = (min: number, max: number): number => min + Math.floor(fraction() * (max - min + 1))
  return {
    fraction,
    between,
    pick: <One>(from: readonly One[]) => from[between(0, from.length - 1)] as One,
    shuffled<One>(from: readonly One[]) {
      const keyed = from.map((one) => ({ one, key: fraction() }))
      return keyed.toSorted((left, right) => left.key - right.key).map(({ one }) => one)
    },
  }
}
