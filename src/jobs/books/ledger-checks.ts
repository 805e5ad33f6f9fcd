import type { Database } from '../../store/database.ts'
import type { Tables } from '../../store/tables.ts'
import { checkFrozenBalances } from './check-frozen-balances.ts'
import { checkSnapshots } from './check-snapshots.ts'
import { controlTotals } from './control-totals.ts'

/** What a check of the books found wrong, a line for each, and how much it looked at. */
export type LedgerOutcome = { findings: string[]; counted: Record<string, number> }

/** Something that must hold of the books. It reads as much as it has to, in flat memory, and writes nothing. */
export type LedgerCheck = {
  /** As `ledger verify` prints it: a noun, like `seals`. */
  name: string
  /** Tells in a line how far it came, where it takes long. */
  run: (db: Database<Tables>, tell: (line: string) => void) => Promise<LedgerOutcome>
}

/** All that `ledger verify` runs, in this order. */
export const ledgerChecks: readonly LedgerCheck[] = [checkFrozenBalances, controlTotals, checkSnapshots]
