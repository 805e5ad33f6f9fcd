import { findImbalances, syncImbalances } from '../../store/books/books-audit.ts'
import { type Database, inTransaction } from '../../store/database.ts'
import type { MismatchChange } from '../../store/mismatches/mismatches.ts'
import type { Tables } from '../../store/tables.ts'

/**
 * Adds up the books: of each asset they are to sum to zero, of a closed deposit nothing is to be left in transit, and
 * what is in transit is to tie to the balances that were proved. What does not is a `ledger_imbalance` of that asset
 * until it does.
 */
export function auditBooks(db: Database<Tables>): Promise<MismatchChange[]> {
  return inTransaction(db, async (tx) => syncImbalances(tx, await findImbalances(tx)))
}
