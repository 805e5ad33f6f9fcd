import type { Address, AssetKey, NetworkName, TxId } from './asset.ts'
import { assert } from './errors.ts'

export type AssetHolding = { network: NetworkName; address: Address; asset: AssetKey }

/** At the end of the block or slot. */
export type Balance = { height: bigint; amount: bigint }

/** Changes are above the first height, up to and including the second. */
export type BalanceSpan = { start: Balance; end: Balance }

/** The part of a change that no known change explains. */
export function unexplained({ start, end }: BalanceSpan, known: bigint): bigint {
  return end.amount - start.amount - known
}

/**
 * Finds the block in which a balance changed without a known reason. The change up to `start` is explained, up to `end`
 * not. Heights up to `blind` are explained or cannot be read.
 */
export type BalanceSearch = BalanceSpan & { blind: bigint }

export function beginSearch({ start, end }: BalanceSpan): BalanceSearch {
  return { start, end, blind: start.height }
}

export function nextHeight({ end, blind }: BalanceSearch): bigint | null {
  return end.height - blind > 1n ? (end.height + blind) / 2n : null
}

/** `amount` is null if it cannot be read. */
export type BalanceProbe = { height: bigint; amount: bigint | null }

/** @param known the known changes above the start of the search, up to the probed height */
export function narrowSearch(
  search: BalanceSearch,
  { height, amount }: BalanceProbe,
  known: bigint,
): BalanceSearch {
  assert(height > search.blind && height < search.end.height, 'a search probes between its ends')
  if (amount === null) return { ...search, blind: height }
  const probed = { height, amount }
  return unexplained({ start: search.start, end: probed }, known) === 0n
    ? { ...search, start: probed, blind: height }
    : { ...search, end: probed }
}

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

export function isNarrow({ start, end }: BalanceSpan): boolean {
  return end.height - start.height === 1n
}

/**
 * Not a payment to the address: an outgoing payment, a fee that it bore, a wrap, returned rent. `change` is signed and
 * never zero. Movements prove balances; they are never booked.
 */
export type BalanceMovement = {
  network: NetworkName
  tx: TxId
  index: string
  asset: AssetKey
  address: Address
  change: bigint
  /** Of what left the address; none of a fee and of a wrap. */
  recipients: readonly Address[]
  height: bigint
  blockHash: string
}
