import type { Transaction } from 'kysely'
import { accounts } from '../../src/core/chart.ts'
import type { TransferRef } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import type { Journal } from '../../src/core/posting.ts'
import { type LogTrust, sealsCheck } from '../../src/jobs/books/check-seals.ts'
import { type SealingResult, sealBooks } from '../../src/jobs/books/seal-books.ts'
import { readCheckpoint } from '../../src/ledger/checkpoint.ts'
import { inTransaction } from '../../src/store/database.ts'
import { bookJournals } from '../../src/store/ledger/journals.ts'
import { afterSize, checkpointsAfter } from '../../src/store/ledger/seals.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type Books, makeDeposit } from './books.ts'
import { at, usdcOnBase } from './evidence.ts'

/** Books so many payments of one deposit that has nothing behind it, each for a different amount. */
export function bookPayments({ db }: Books, first: number, count: number): Promise<void> {
  return inTransaction(db, (tx) => bookWithin(tx, first, count))
}

export async function bookWithin(tx: Transaction<Tables>, first: number, count: number): Promise<void> {
  const depositId = await makeDeposit(tx, `base/0x${first}/0`)
  const journals = Array.from({ length: count }, (_none, place): Journal => {
    const transfer = `base/0x${first + place}/0` as TransferRef
    const amount = BigInt(1000 + first + place) as Amount
    const transfers = [{ debit: accounts.receivable, credit: accounts.suspense, asset: usdcOnBase, amount }]
    return {
      key: `deposit/${transfer}#1`,
      kind: 'deposit',
      transfer,
      depositId,
      reverses: null,
      eventAt: at(1),
      transfers,
    }
  })
  await bookJournals(tx, journals)
}

export function seal({ db }: Books): Promise<SealingResult> {
  return sealBooks(db, null)
}

/** What is wrong with the log. */
export async function checkLog(
  { db }: Books,
  trust: LogTrust = { published: new Map(), keys: [] },
): Promise<string[]> {
  const { findings } = await sealsCheck(trust).run(db, () => undefined)
  return findings
}

export async function publishedOf({ db }: Books): Promise<LogTrust['published']> {
  const stored = await checkpointsAfter(db, afterSize(0), { limit: 100 })
  const read = stored.map(({ note }) => readCheckpoint(note)).filter((one) => one !== null)
  return new Map(read.map((one) => [one.size, one]))
}
