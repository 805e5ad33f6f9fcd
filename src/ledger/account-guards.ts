import type { AssetKey } from '../core/asset.ts'
import type { LedgerTransfer } from '../core/booking-targets.ts'
import { matchesPattern, usualSign } from '../core/chart.ts'

/** Debits less credits, in base units. */
export type AccountChange = { account: string; asset: AssetKey; amount: bigint }

export function isGuarded(account: string, guards: readonly string[]): boolean {
  return guards.some((pattern) => matchesPattern(account, pattern))
}

/** What the transfers change of guarded accounts. */
export function guardedChanges(
  transfers: readonly LedgerTransfer[],
  guards: readonly string[],
): AccountChange[] {
  const changes = new Map<string, AccountChange>()
  const add = (account: string, asset: AssetKey, amount: bigint) => {
    if (!isGuarded(account, guards)) return
    const key = `${account} ${asset}`
    changes.set(key, { account, asset, amount: (changes.get(key)?.amount ?? 0n) + amount })
  }
  for (const { debit, credit, asset, amount } of transfers) {
    add(debit, asset, amount)
    add(credit, asset, 0n - amount)
  }
  return [...changes.values()]
}

/** True if the change leaves the account further on the side that is not its usual one. */
export function breaksGuard({ account, amount }: AccountChange, before: bigint): boolean {
  const sign = usualSign(account)
  return amount * sign < 0n && (before + amount) * sign < 0n
}
