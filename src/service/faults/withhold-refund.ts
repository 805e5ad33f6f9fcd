import type { DepositChange } from '../deposits/deposits.ts'
import type { ServiceDepositRow } from '../tables.ts'
import type { Faults } from './faults.ts'

/** What becomes of a final deposit: where a fault wants that, it fails instead of being delivered, and nothing goes back. */
export function withhold(
  faults: Faults,
  deposit: ServiceDepositRow,
  change: DepositChange | null,
): DepositChange | null {
  const isDelivered = change?.status === 'converting' || change?.status === 'credited'
  if (!isDelivered || !faults.strikes('withholdRefundRate', deposit)) return change
  return { id: deposit.id, status: 'failed', reason: 'too_small' }
}
