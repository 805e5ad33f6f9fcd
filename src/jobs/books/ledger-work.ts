import { messageOf } from '../../core/errors.ts'
import type { Database } from '../../store/database.ts'
import { isBusy } from '../../store/ledger/ground.ts'
import type { MismatchChange } from '../../store/mismatches/mismatches.ts'
import type { Tables } from '../../store/tables.ts'
import type { OwnerAudit } from '../audit-owners.ts'
import { auditBooks } from './audit-books.ts'
import { createSealAudit } from './audit-seals.ts'
import { createSnapshotAudit } from './audit-snapshots.ts'
import { sealBooks } from './seal-books.ts'
import { snapshotBooks } from './snapshot-books.ts'

type LedgerWorkDeps = {
  db: Database<Tables>
  audit: () => Promise<OwnerAudit>
  observe: { mismatches: (changes: readonly MismatchChange[]) => void }
}

export type LedgerWork = {
  /**
   * Adds up the books and the days that are over, and holds what the service states of our channels and wallets against
   * the address book.
   */
  audit: () => Promise<void>
  /** Seals what was booked, and holds some of the seals against what they are over. */
  seal: () => Promise<void>
}

/** What is done with the books again and again, whatever comes in. */
export function createLedgerWork({ db, audit, observe }: LedgerWorkDeps): LedgerWork {
  const auditSeals = createSealAudit(db)
  const auditSnapshots = createSnapshotAudit(db)
  return {
    audit: () =>
      each([
        () => orNextTime(() => snapshotBooks(db)),
        async () => observe.mismatches(await auditBooks(db)),
        async () => observe.mismatches(await auditSnapshots()),
        async () => observe.mismatches((await audit()).changes),
      ]),
    seal: () =>
      each([() => orNextTime(() => sealBooks(db)), async () => observe.mismatches(await auditSeals())]),
  }
}

/** One step after the other, whatever fails; what failed is told at the end. */
async function each(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failed: unknown[] = []
  for (const step of steps) await step().catch((error: unknown) => void failed.push(error))
  if (failed.length > 1) throw new AggregateError(failed, failed.map(messageOf).join('; '))
  if (failed.length === 1) throw failed[0]
}

/** While others write without an end it is left to the next run, which does what this one did not. */
async function orNextTime(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!isBusy(error)) throw error
  }
}
