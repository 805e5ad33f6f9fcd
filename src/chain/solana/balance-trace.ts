import type { BalanceHistory, HeightRange } from '../port.ts'

/** What one account held before the first, and after the last, of a slot's transactions that touched it. */
export type Touch = { slot: bigint; before: bigint; after: bigint }

/** One account, as transactions tell of it, lowest slot first, and what it holds behind them all. */
export type BalanceTrace = { touches: readonly Touch[]; now: bigint }

/**
 * The balances of several accounts together, next to the slots in which one of them was touched. A height at which one
 * of them is not known is left out.
 */
export function balancesTold(
  traces: readonly BalanceTrace[],
  { from, to }: HeightRange,
): BalanceHistory['balances'] {
  const slots = traces.flatMap(({ touches }) => touches.map(({ slot }) => slot))
  const heights = new Set(slots.flatMap((slot) => [slot - 1n, slot]))
  return [...heights]
    .filter((height) => height >= from && height <= to)
    .toSorted((left, right) => (left < right ? -1 : 1))
    .flatMap((height) => {
      const amount = sum(traces.map((trace) => heldAt(trace, height)))
      return amount === null ? [] : [{ height, amount }]
    })
}

/**
 * Null where what is told before that height and behind it differs. A hidden transaction may be in the very slots of
 * the two that are told, after the one or before the other, so that neither's slot has a balance that can be relied on.
 */
function heldAt({ touches, now }: BalanceTrace, height: bigint): bigint | null {
  const before = touches.findLast(({ slot }) => slot <= height)?.after ?? 0n
  const behind = touches.find(({ slot }) => slot > height)?.before ?? now
  return before === behind ? before : null
}

function sum(amounts: readonly (bigint | null)[]): bigint | null {
  return amounts.reduce((total, amount) => (total === null || amount === null ? null : total + amount), 0n)
}
