import { refusal } from './pool.ts'
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

/** `at`: null if the node does not have the block. */
export type DatedHeight<At = Date | null> = { height: bigint; at: At }

type HeightSearch = {
  node: { readonly name: string }
  /** The first block that the node may have. */
  first: bigint
  final: DatedHeight<Date>
  wanted: Date
}

/**
 * The last block that is not after `wanted`; null if the first available block is later. A missing block never raises
 * the answer.
 * @throws Fault `remote_failed` if a block is unavailable although an older one is: the result would be arbitrary
 */
export async function heightAt(
  { node, first, final, wanted }: HeightSearch,
  read: (height: bigint) => Promise<DatedHeight>,
): Promise<bigint | null> {
  if (final.at <= wanted) return final.height
  let below = await read(first)
  let above = final
  if (isLater(below, wanted)) return null
  for (let step = 0; above.height - below.height > 1n; step++) {
    const height = step % 2 === 0 ? likelyHeight(below, above, wanted) : middle(below, above)
    const found = await read(height)
    if (found.at === null && below.at !== null)
      throw refusal(node, 'blocks by their time', 'the node lacks some of them')
    if (isLater(found, wanted)) above = { height, at: found.at }
    else below = found
  }
  return below.at === null ? null : below.height
}

function isLater(block: DatedHeight, wanted: Date): block is DatedHeight<Date> {
  return block.at !== null && block.at > wanted
}

/** Blocks come at an even pace: a few guesses suffice, if halving takes thirty. */
function likelyHeight(below: DatedHeight, above: DatedHeight<Date>, wanted: Date): bigint {
  if (below.at === null) return middle(below, above)
  const [passedMs, wholeMs] = [wanted.getTime() - below.at.getTime(), above.at.getTime() - below.at.getTime()]
  const height = below.height + ((above.height - below.height) * BigInt(passedMs)) / BigInt(wholeMs)
  return height <= below.height ? below.height + 1n : height
}

function middle(below: DatedHeight, above: DatedHeight): bigint {
  return (below.height + above.height) / 2n
}
