import { assert } from '../../core/errors.ts'
import type { ServiceDepositRow } from '../tables.ts'
import type { Faults } from './faults.ts'

/** Deposits that one forward pays. */
export type ForwardGroup = readonly [ServiceDepositRow, ...ServiceDepositRow[]]

/** The amount of a deposit's forward, and the extra transfers. If `isReported`, the deposit names their transaction. */
type Payout = { amount: bigint; beside: readonly { amount: bigint; isReported: boolean }[] }

/**
 * Groups deposits into forwards: one each, unless a fault joins several to one recipient. A deposit to be joined waits
 * for another one, at most for the delay.
 */
export function joinForwards(
  faults: Faults,
  deposits: readonly ServiceDepositRow[],
  nowMs: number,
): ForwardGroup[] {
  const isJoined = (deposit: ServiceDepositRow): boolean =>
    deposit.status === 'converting' && faults.strikes('joinForwardRate', deposit)
  const groups = Map.groupBy(deposits, (deposit) =>
    isJoined(deposit) ? `${deposit.to_address}/${deposit.to_contract}` : deposit.id,
  )
  return [...groups.values()].flatMap(([first, ...others]): ForwardGroup[] => {
    if (first === undefined) return []
    const isWaiting =
      isJoined(first) && others.length === 0 && first.updated_at.getTime() + faults.current().delayMs > nowMs
    return isWaiting ? [] : [[first, ...others]]
  })
}

/** Extra transfers are paid with the first attempt of the forward. */
export function payoutOf(faults: Faults, deposit: ServiceDepositRow): Payout {
  const quoted = quotedOf(deposit)
  const isFirst = deposit.status === 'converting'
  const part = faults.strikes('splitForwardRate', deposit) ? quoted / 2n : 0n
  const isShort = faults.strikes('shortForwardRate', deposit)
  const amount = isShort ? shortened(quoted - part) : quoted - part
  const isDoubled = isFirst && faults.strikes('doubleForwardRate', deposit)
  if (isFirst && part > 0n) return { amount, beside: [{ amount: part, isReported: true }] }
  return { amount, beside: isDoubled ? [{ amount, isReported: false }] : [] }
}

export function quotedOf({ to_amount: amount }: ServiceDepositRow): bigint {
  assert(amount !== null, 'a deposit that is forwarded has a quote')
  return BigInt(amount)
}

/** The faulty amount: a tenth less than claimed, at least one base unit less. */
function shortened(amount: bigint): bigint {
  const tenth = amount / 10n
  const less = amount - (tenth > 0n ? tenth : 1n)
  return less > 0n ? less : amount
}
