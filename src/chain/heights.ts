import type { RangeResult } from './types.ts'

export function lowest(...heights: readonly [bigint, ...bigint[]]): bigint {
  return heights.reduce((low, height) => (height < low ? height : low))
}

export function highest(...heights: readonly [bigint, ...bigint[]]): bigint {
  return heights.reduce((high, height) => (height > high ? height : high))
}

/** For sorting. */
export function ascending(left: bigint, right: bigint): number {
  return left < right ? -1 : Number(left > right)
}

/** The result of a range that cannot be read yet. */
export function nothingRead(from: bigint): RangeResult {
  return { transfers: [], movements: [], proved: [], dissent: [], reached: from - 1n }
}
