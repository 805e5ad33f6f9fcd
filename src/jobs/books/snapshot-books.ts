import type { Database } from '../../store/database.ts'
import { cutLedger, makePartitions, patiently } from '../../store/ledger/ground.ts'
import { isSnapshotDue, makeSnapshot } from '../../store/ledger/snapshots.ts'
import type { Tables } from '../../store/tables.ts'

/**
 * Makes ready what the books need as time goes by: partitions for the next months, and the sums of each day of recording
 * that is over. Safe to run twice and beside itself.
 * @returns how many days were added up
 * @throws Fault `remote_failed` where writers do not come to an end
 */
export async function snapshotBooks(db: Database<Tables>): Promise<number> {
  await makePartitions(db)
  if (!(await isSnapshotDue(db))) return 0
  await patiently('adding up the books', () => cutLedger(db))
  let days = 0
  while ((await makeSnapshot(db)) !== null) days++
  return days
}
