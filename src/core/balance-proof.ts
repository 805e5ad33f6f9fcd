import type { Address, AssetKey, NetworkName } from './asset.ts'
import { assert } from './errors.ts'

/** What one address has of one asset. */
export type AssetHolding = { network: NetworkName; address: Address; asset: AssetKey }

/** How much was held at the end of the block, or slot, of that height. */
export type Balance = { height: bigint; amount: bigint }

/** Two balances of one holding. What happened between them is above the first height, and up to the second. */
export type BalanceSpan = { start: Balance; end: Balance }

/** How much of a change is beyond what is known of it: payments received, and everything else that moved, summed. */
export function unexplained({ start, end }: BalanceSpan, known: bigint): bigint {
  return end.amount - start.amount - known
}

/**
 * The search for the block in which a balance changed without a known reason. All up to `start` is explained, and not
 * all up to `end` is. No balance at `blind`, nor below, can be read.
 */
export type BalanceSearch = BalanceSpan & { blind: bigint }

/** Begins where all is explained up to the start of the span, and not all up to its end. */
export function beginSearch({ start, end }: BalanceSpan): BalanceSearch {
  return { start, end, blind: start.height }
}

/** The height whose balance halves what is left to search; null where the search is at its end. */
export function nextHeight({ end, blind }: BalanceSearch): bigint | null {
  return end.height - blind > 1n ? (end.height + blind) / 2n : null
}

/** What a balance read there tells: its amount, or null where it cannot be read. */
export type BalanceProbe = { height: bigint; amount: bigint | null }

/** @param known what is known to have changed above the start of the search, up to the height that was probed */
export function learn(search: BalanceSearch, { height, amount }: BalanceProbe, known: bigint): BalanceSearch {
  assert(height > search.blind && height < search.end.height, 'a search probes between its ends')
  if (amount === null) return { ...search, blind: height }
  const probed = { height, amount }
  return unexplained({ start: search.start, end: probed }, known) === 0n
    ? { ...search, start: probed, blind: height }
    : { ...search, end: probed }
}

/** The spans between neighbouring balances, from the start to the end. */
export function spansBetween({ start, end }: BalanceSpan, balances: readonly Balance[]): BalanceSpan[] {
  const ends = [...balances, end]
  return [start, ...balances].flatMap((balance, place): BalanceSpan[] => {
    const next = ends[place]
    assert(
      next !== undefined && next.height > balance.height,
      'balances lie between the ends, in their order',
    )
    return [{ start: balance, end: next }]
  })
}

/** True where the block is found: the change is in the one at the end of the span. */
export function isNarrow({ start, end }: BalanceSpan): boolean {
  return end.height - start.height === 1n
}
