import type { Kysely } from 'kysely'
import { builtInAccounts } from '../../src/core/chart.ts'
import { isFault } from '../../src/core/errors.ts'
import type { ManualJournalDeps, WrittenJournal } from '../../src/jobs/books/book-by-hand.ts'
import type { Tables } from '../../src/store/tables.ts'
import { at } from './evidence.ts'

export const people = { by: 'erin', approvedBy: 'max' }

/** What it takes to book by hand into the example books, three days after they begin. */
export function manualJournals(db: Kysely<Tables>, guards: string[] = []): ManualJournalDeps {
  const accountPatterns = [...builtInAccounts(['base', 'arbitrum']), 'assets:bank:main']
  return { db, accountPatterns, guards, now: at(3 * 24 * 60) }
}

export const written = (changes: Partial<WrittenJournal> = {}): WrittenJournal => ({
  date: at(24 * 60),
  reason: 'The service paid what it owed',
  lines: [
    { debit: 'assets:bank:main', credit: 'assets:receivable:service', asset: 'base/USDC', amount: '7.5' },
  ],
  ...changes,
})

export async function problemOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!isFault(error, 'usage_bad') && !isFault(error, 'not_found')) throw error
  return error.details.problem
}
