import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { auditBooks } from '../../../src/jobs/books/audit-books.ts'
import { inTransaction, openDatabase } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { claim, delivery, payment, txId, usdcOnBase, webhook } from '../../support/evidence.ts'

async function openImbalances({ db }: Books) {
  const { rows } = await sql<{ subject: string; network: string; value: string; detail: object }>`
    select subject, network, value::text as value, detail from mismatch
    where kind = 'ledger_imbalance' and cleared_at is null`.execute(db)
  return rows
}

/** Does to the books what their triggers refuse to everybody but the owner of the tables. */
async function tamper({ url }: Books, statement: string): Promise<void> {
  const owner = openDatabase<Tables>({ url, poolMax: 1, applicationName: 'test owner' })
  await inTransaction(owner, async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    await sql.raw(statement).execute(tx)
  })
  await owner.destroy()
}

test('books that add up raise nothing, also with deposits on their way and taken back', async () => {
  await using books = await openBooks()
  await books.receive(webhook(), claim(), payment(), delivery())
  await books.receive(payment({ tx: txId('unreported') }))
  await books.settle()
  const gone = payment({ tx: txId('unreported'), stage: 'orphaned', epoch: 1 })
  await books.receive(payment({ tx: txId('waits') }), gone)
  await books.settle()
  expect(await auditBooks(books.db)).toEqual([])
  expect(await openImbalances(books)).toEqual([])
})

test('what a closed deposit still has in transit is an imbalance, until the books are as they were', async () => {
  await using books = await openBooks()
  await books.receive(webhook(), claim(), payment(), delivery())
  await books.settle()
  const change =
    "from ledger_journal j where j.id = journal_id and j.kind = 'settlement' and credit like 'assets:%'"
  await tamper(books, `update ledger_transfer set amount = amount - 7 ${change}`)
  expect(await auditBooks(books.db)).toMatchObject([{ kind: 'ledger_imbalance', change: 'opened' }])
  expect(await openImbalances(books)).toEqual([
    {
      subject: `books/${usdcOnBase}`,
      network: 'base',
      value: '7',
      detail: { left: '7', deposits: '1', deposit: expect.stringMatching(/^\d+$/) },
    },
  ])
  expect(await auditBooks(books.db)).toEqual([])
  await tamper(books, `update ledger_transfer set amount = amount + 7 ${change}`)
  expect(await auditBooks(books.db)).toMatchObject([{ kind: 'ledger_imbalance', change: 'cleared' }])
  expect(await openImbalances(books)).toEqual([])
})

test('books of an asset that do not sum to zero are an imbalance, until they do', async () => {
  await using books = await openBooks()
  await books.receive(payment())
  await books.settle()
  const entries = 'select journal_id, leg, debit as account, asset, amount from ledger_transfer union all'
  const credits = 'select journal_id, leg, credit, asset, -amount'
  await tamper(books, `create or replace view ledger_entry as ${entries} ${credits} + 3 from ledger_transfer`)
  expect(await auditBooks(books.db)).toMatchObject([{ kind: 'ledger_imbalance', change: 'opened' }])
  expect(await openImbalances(books)).toMatchObject([{ value: '3', detail: { sum: '3' } }])
  await tamper(books, `create or replace view ledger_entry as ${entries} ${credits} from ledger_transfer`)
  expect(await auditBooks(books.db)).toMatchObject([{ kind: 'ledger_imbalance', change: 'cleared' }])
})
