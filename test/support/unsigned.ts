import type { Kysely, Transaction } from 'kysely'
import { decideAllAnew, holdingDecisions } from '../../src/jobs/books/activate-rules.ts'
import {
  bookJournal,
  type ManualJournalDeps,
  type WrittenJournal,
} from '../../src/jobs/books/book-by-hand.ts'
import { type PeriodChangeResult, preparePeriodChange } from '../../src/jobs/books/close-period.ts'
import {
  type BookedOpening,
  bookOpeningWithin,
  type Opening,
  type OpeningDeps,
} from '../../src/jobs/books/open-books.ts'
import { bookReversal } from '../../src/jobs/books/reverse-by-hand.ts'
import { inTransaction, withoutRace } from '../../src/store/database.ts'
import { type BookedJournal, type ByHand, readJournal } from '../../src/store/ledger/journals.ts'
import { patiently } from '../../src/store/ledger/maintenance.ts'
import type { PeriodChange } from '../../src/store/ledger/periods.ts'
import type { Tables } from '../../src/store/tables.ts'

/** What people decide about the books, done without their signatures. */

export function addJournal(
  { db, ...deps }: ManualJournalDeps,
  written: WrittenJournal,
  people: Omit<ByHand, 'reason'>,
): Promise<BookedJournal> {
  return withoutRace(() => inTransaction(db, (tx) => bookJournal({ ...deps, db: tx }, written, people)))
}

export async function reverseJournal(db: Kysely<Tables>, id: bigint, byHand: ByHand): Promise<BookedJournal> {
  const original = await readJournal(db, id)
  const reverse = (tx: Transaction<Tables>) => bookReversal(tx, id, byHand)
  return withoutRace(() =>
    original?.kind === 'opening' ? beforeAllDecisions(db, reverse) : inTransaction(db, reverse),
  )
}

export function bookOpening(
  { db, now }: Pick<OpeningDeps, 'db' | 'now'>,
  opening: Opening,
  people: ByHand,
): Promise<BookedOpening> {
  return withoutRace(() =>
    beforeAllDecisions(db, (tx: Transaction<Tables>) => bookOpeningWithin({ db: tx, now }, opening, people)),
  )
}

export async function changePeriod(
  db: Kysely<Tables>,
  { period, action, forced, ...who }: PeriodChange,
): Promise<PeriodChangeResult> {
  const { change } = await preparePeriodChange(db, { period, action, forced })
  return patiently('closing the books', () => inTransaction(db, (tx) => change(tx, who)))
}

async function beforeAllDecisions<Result>(
  db: Kysely<Tables>,
  work: (tx: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  const { digest, result } = await inTransaction(db, (tx) => holdingDecisions(tx, work))
  await decideAllAnew(db, digest)
  return result
}
