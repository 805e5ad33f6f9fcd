import { messageOf } from '../../core/errors.ts'
import type { Seal } from '../../ledger/seals/seal.ts'
import { findImbalances, syncImbalances } from '../../store/books/books-audit.ts'
import { type Database, inTransaction } from '../../store/database.ts'
import { type BooksCheckResult, syncChecked } from '../../store/ledger/checked-mismatches.ts'
import { cutLedger, isBusy, makePartitions, patiently } from '../../store/ledger/ground.ts'
import { isSnapshotDue, makeSnapshot, snapshotDays, snapshotFaults } from '../../store/ledger/snapshots.ts'
import type { MismatchChange } from '../../store/mismatches/mismatches.ts'
import type { Tables } from '../../store/tables.ts'
import type { OwnerAudit } from '../audit-owners.ts'
import { type CheckedSeal, checkSeals } from './check-seals.ts'
import { findingOf } from './check-snapshots.ts'
import { sealBooks } from './seal-books.ts'

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

/**
 * Adds up the books: of each asset they are to sum to zero, of a closed deposit nothing is to be left in transit, and
 * what is in transit is to tie to the balances that were proved. What does not is a `ledger_imbalance` of that asset
 * until it does.
 */
export function auditBooks(db: Database<Tables>): Promise<MismatchChange[]> {
  return inTransaction(db, async (tx) => syncImbalances(tx, await findImbalances(tx)))
}

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

const journalsOfRun = 50_000

/**
 * Each call holds the next seals against their journals, and begins anew behind the last one. What is not as it was
 * sealed is a `seal_broken` of that seal until it is.
 */
export function createSealAudit(
  db: Database<Tables>,
  journalsMax = journalsOfRun,
): () => Promise<MismatchChange[]> {
  let behind: Seal | null = null
  return async () => {
    const { checked, next } = await checkSome(db, behind, journalsMax)
    behind = next
    return inTransaction(db, (tx) => syncChecked(tx, 'seal_broken', checked.map(toChecked)))
  }
}

function toChecked({ seal: { number }, faults }: CheckedSeal): BooksCheckResult {
  return { subject: `seal/${number}`, detail: { seal: number }, faults }
}

type Some = { checked: CheckedSeal[]; next: Seal | null }

async function checkSome(db: Database<Tables>, behind: Seal | null, journalsMax: number): Promise<Some> {
  const checked: CheckedSeal[] = []
  let journals = 0
  for await (const one of checkSeals(db, behind)) {
    checked.push(one)
    journals += one.journals
    if (journals >= journalsMax) return { checked, next: one.seal }
  }
  return { checked, next: null }
}
