import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { type TransferDecision, transferRef } from '../../../src/core/evidence.ts'
import type { Amount } from '../../../src/core/money.ts'
import { decisionOn } from '../../../src/jobs/books/propose-matches.ts'
import { decisionsCheck } from '../../../src/jobs/people/check-decisions.ts'
import { recordDecisions } from '../../../src/store/books/proposals.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { bookJournals } from '../../../src/store/ledger/journals.ts'
import { findTransfers, type StakedTransfer } from '../../../src/store/mismatches/staked-deposits.ts'
import { type Books } from '../../support/books.ts'
import { at, claim, delivery, payment, usdcOnBase, webhook, writeOffOf } from '../../support/evidence.ts'
import { signers } from '../../support/people.ts'
import {
  balances,
  booksWithPeople,
  mismatches,
  openKinds,
  overdue,
  reason,
  withdrawn,
  writeOff,
} from '../../support/write-offs.ts'

let books: Books

beforeEach(async () => {
  books = await booksWithPeople()
})

const payingRef = transferRef(payment())

const lostLine = {
  debit: 'expenses:write_off',
  credit: 'assets:in_transit:base',
  asset: usdcOnBase,
  amount: 100_000_000n,
}

test('the login of the daemon stores no decision of a person, and books no write-off', async () => {
  const id = await overdue(books)
  const [stake] = await findTransfers(books.db, payingRef)
  const forged = { id: 'forged', by: 'erin', approvedBy: 'max', reason, receivedAt: at(99) }
  const decided = decisionOn(stake as StakedTransfer, {
    ...forged,
    verdict: writeOffOf('expenses:write_off'),
  })
  const store = (one: TransferDecision) => inTransaction(books.db, (tx) => recordDecisions(tx, [one]))
  await expect(store(decided)).rejects.toThrow('a decision of erin needs signatures')
  await expect(store({ ...decided, by: 'policy' })).rejects.toThrow('a decision of policy needs signatures')
  const journal = {
    key: 'write_off/forged',
    kind: 'write_off',
    reverses: null,
    depositId: 1n,
    transfer: transferRef(decided),
    eventAt: at(99),
    transfers: [lostLine],
  }
  const book = inTransaction(books.db, (tx) => bookJournals(tx, [journal as never]))
  await expect(book).rejects.toThrow('no person decided to write off')
  expect((await mismatches(books)).find((one) => one.id === id)?.status).toBe('open')
})

/** Of one base unit, as the daemon's login would book it. */
const oneMore = {
  key: 'write_off/again',
  kind: 'write_off',
  reverses: null,
  depositId: 1n,
  transfer: payingRef,
  eventAt: at(99),
  transfers: [{ ...lostLine, amount: 1n }],
}

test('a decision that was withdrawn books nothing any more', async () => {
  const mismatch = await overdue(books)
  await writeOff(books, mismatch)
  await writeOff(books, mismatch, withdrawn)
  const again = inTransaction(books.db, (tx) => bookJournals(tx, [oneMore as never]))
  await expect(again).rejects.toThrow('no person decided to write off')
})

test('a write-off of more than was decided is refused, and found if the owner of the disk books it', async () => {
  await writeOff(books, await overdue(books))
  const { rows } = await sql<{ id: bigint }>`
    select id from ledger_journal where kind = 'write_off'`.execute(books.db)
  const id = rows[0]?.id ?? 0n
  const again = inTransaction(books.db, (tx) => bookJournals(tx, [oneMore as never]))
  await expect(again).rejects.toThrow('no person decided to write off')
  const disabled = [
    'ledger_journal disable trigger ledger_journal_write_off',
    'ledger_transfer disable trigger all',
  ]
  for (const change of disabled) await sql.raw(`alter table ${change}`).execute(books.owner)
  await sql`update ledger_transfer set amount = amount + 1 where journal_id = ${id}`.execute(books.owner)
  expect((await decisionsCheck(signers.erin.key).run(books.db, () => undefined)).findings).toContain(
    `journal ${id} writes off what no person decided`,
  )
})

test('if the service then says that more is missing, the rest stays owed by it, and is decided anew', async () => {
  const short = delivery({ amount: 79_900_000n as Amount })
  await books.receive(webhook(), claim(), payment(), short)
  await books.settle()
  const [found] = await mismatches(books)
  await writeOff(books, found?.id ?? 0n)
  const expense = 'expenses:write_off arbitrum'
  const receivable = 'assets:receivable:service arbitrum'
  expect(await balances(books)).toMatchObject({ [expense]: '20000000' })
  await expect(writeOff(books, found?.id ?? 0n)).rejects.toThrow('already written off')
  const more = { settlement: { amount: 109_900_000n as Amount }, occurredAt: at(99) }
  await books.receive(claim(more))
  await books.settle()
  expect(await balances(books)).toMatchObject({ [expense]: '20000000', [receivable]: '10000000' })
  expect(await openKinds(books)).toContain(found?.kind)
  await writeOff(books, found?.id ?? 0n)
  expect(await balances(books)).toMatchObject({ [expense]: '30000000' })
  expect(await decisionsCheck(signers.erin.key).run(books.db, () => undefined)).toMatchObject({
    findings: [],
  })
})
