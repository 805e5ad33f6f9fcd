import type { DepositChange } from '../deposits/deposits.ts'
import type { ServiceDepositRow } from '../tables.ts'
import type { Faults } from './faults.ts'

/** Replaces the delivery of a final deposit with a failure if the fault affects it; nothing is refunded. */
export function withhold(
  faults: Faults,
  deposit: ServiceDepositRow,
  change: DepositChange | null,
): DepositChange | null {
  const isDelivered = change?.status === 'converting' || change?.status === 'credited'
  if (!isDelivered || !faults.strikes('withholdRefundRate', deposit)) return change
  return { id: deposit.id, status: 'failed', reason: 'too_small' }
}
