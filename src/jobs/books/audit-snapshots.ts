import { type Database, inTransaction } from '../../store/database.ts'
import { type BooksCheckResult, syncChecked } from '../../store/ledger/checked-mismatches.ts'
import { snapshotDays, snapshotFaults } from '../../store/ledger/snapshots.ts'
import type { MismatchChange } from '../../store/mismatches/mismatches.ts'
import type { Tables } from '../../store/tables.ts'
import { findingOf } from './check-snapshots.ts'

const daysOfRun = 10
/** Of one day. */
const faultsMax = 10

/**
 * Each call makes the snapshots of the next days again, and begins anew behind the last one. What differs is a
 * `ledger_imbalance` of that day until it does not.
 */
export function createSnapshotAudit(
  db: Database<Tables>,
  daysMax = daysOfRun,
): () => Promise<MismatchChange[]> {
  let behind = '-infinity'
  return async () => {
    const days = await snapshotDays(db, behind, daysMax)
    behind = days.length < daysMax ? '-infinity' : (days.at(-1) ?? '-infinity')
    const checked: BooksCheckResult[] = []
    for (const day of days) {
      const faults = await snapshotFaults(db, day, faultsMax)
      checked.push({
        subject: `snapshot/${day}`,
        detail: { recorded: day },
        faults: faults.map((fault) => findingOf(day, fault)),
      })
    }
    return inTransaction(db, (tx) => syncChecked(tx, 'ledger_imbalance', checked))
  }
}
