import type { Terms } from '../deposits/quote.ts'
import type { ServiceDepositRow } from '../tables.ts'
import type { Faults } from './faults.ts'

/** The terms of this deposit; a fault doubles the fee. */
export function termsOf(faults: Faults, deposit: ServiceDepositRow, terms: Terms): Terms {
  const times = faults.strikes('overchargeRate', deposit) ? 2 : 1
  return { ...terms, feeBasisPoints: Math.min(terms.feeBasisPoints * times, wholeBasisPoints) }
}

const wholeBasisPoints = 10_000
