import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { auditBooks } from '../../../src/jobs/books/audit-books.ts'
import { ledgerChecks } from '../../../src/jobs/books/ledger-checks.ts'
import { untiedUnits } from '../../../src/store/books/books-audit.ts'
import { inTransaction, openDatabase } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import {
  channelAddress,
  claim,
  delivery,
  payment,
  txId,
  usdcOnBase,
  webhook,
} from '../../support/evidence.ts'
import { openExampleBooks } from '../../support/example-books.ts'

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
  const { rows } = await sql<{ text: string }>`select pg_get_viewdef('ledger_entry') as text`.execute(
    books.db,
  )
  const entries = `create or replace view ledger_entry as ${rows[0]?.text}`
  await tamper(books, entries.replace('(- ledger_transfer.amount)', '(3 - ledger_transfer.amount)'))
  expect(await auditBooks(books.db)).toMatchObject([{ kind: 'ledger_imbalance', change: 'opened' }])
  expect(await openImbalances(books)).toMatchObject([{ value: '3', detail: { sum: '3' } }])
  await tamper(books, entries)
  expect(await auditBooks(books.db)).toMatchObject([{ kind: 'ledger_imbalance', change: 'cleared' }])
})

async function findings({ db }: Books): Promise<string[]> {
  const check = ledgerChecks.find(({ name }) => name === 'control totals')
  return (await check?.run(db, () => undefined))?.findings ?? ['there is no such check']
}

test('what is in transit ties to the balances that were proved, also while payments wait to be booked', async () => {
  await using books = await openExampleBooks()
  const seen = payment({ tx: txId('above the balance'), height: 30n })
  await books.receive(seen, payment({ tx: txId('not read yet'), stage: 'seen' }))
  expect(await auditBooks(books.db)).toEqual([])
  await books.settle()
  await books.receive({ ...seen, stage: 'orphaned', epoch: 1 })
  expect(await auditBooks(books.db)).toEqual([])
  await books.settle()
  expect(await auditBooks(books.db)).toEqual([])
  expect(await findings(books)).toEqual([])
})

test('a balance that the books do not explain is an imbalance of its address, until they do', async () => {
  await using books = await openExampleBooks()
  const where = `address = '${channelAddress}' and asset = '${usdcOnBase}'`
  await tamper(books, `update balance_point set balance = balance - 9 where ${where}`)
  expect(await auditBooks(books.db)).toMatchObject([{ kind: 'ledger_imbalance', change: 'opened' }])
  expect(await openImbalances(books)).toEqual([
    {
      subject: `books/${usdcOnBase}`,
      network: 'base',
      value: '9',
      detail: { untied: '9', addresses: '1', address: channelAddress },
    },
  ])
  expect(await findings(books)).toEqual([
    `${usdcOnBase}, in smallest units: books and balances of 1 addresses differ by 9, such as of ${channelAddress}`,
  ])
  const untied = (await untiedUnits(books.db)).filter(({ units }) => units !== 0)
  expect(untied).toEqual([{ control: 'tie_out', asset: usdcOnBase, units: 0.000009 }])
  await tamper(books, `update balance_point set balance = balance + 9 where ${where}`)
  expect(await auditBooks(books.db)).toMatchObject([{ kind: 'ledger_imbalance', change: 'cleared' }])
})

test('a booking of a payment that was never seen is an imbalance, and so is one of another amount', async () => {
  await using books = await openExampleBooks()
  const payment5 = `(select id from ledger_journal where deposit_id = 5 and kind = 'deposit')`
  await tamper(books, `update ledger_transfer set amount = amount + 11 where journal_id = ${payment5}`)
  expect(await findings(books)).toEqual([
    `${usdcOnBase}, in smallest units: books and balances of 1 addresses differ by 11, such as of ${channelAddress}`,
  ])
  await tamper(books, `update ledger_transfer set amount = amount - 11 where journal_id = ${payment5}`)
  await tamper(books, `update ledger_journal set transfer = 'base/0x1/0' where id = ${payment5}`)
  expect(await findings(books)).toEqual([
    `${usdcOnBase}, in smallest units: 75000000 are booked of payments that were never seen`,
  ])
})
