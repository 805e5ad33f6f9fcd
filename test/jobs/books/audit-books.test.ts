import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { checkControlTotals } from '../../../src/jobs/books/ledger-checks.ts'
import { auditBooks, snapshotBooks } from '../../../src/jobs/books/ledger-work.ts'
import { untiedUnits } from '../../../src/store/books/books-audit.ts'
import { openDatabase } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { runbookSections } from '../../grafana/files.ts'
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
import { tamper } from '../../support/tamper.ts'

async function openImbalances({ db }: Books) {
  const { rows } = await sql<{ subject: string; network: string; value: string; detail: object }>`
    select subject, network, value::text as value, detail from mismatch
    where kind = 'ledger_imbalance' and cleared_at is null`.execute(db)
  return rows
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

test('sums that are kept of days that are over, and do not balance, are an imbalance until they do', async () => {
  await using books = await openBooks()
  await books.receive(payment())
  await books.settle()
  for (const table of ['ledger_journal', 'ledger_transfer'])
    await tamper(books, `update ${table} set recorded_at = recorded_at - interval '3 days'`)
  await snapshotBooks(books.db)
  expect(await auditBooks(books.db)).toEqual([])
  await tamper(books, 'update ledger_snapshot set debit = debit + 3 where debit > 0')
  expect(await auditBooks(books.db)).toMatchObject([{ kind: 'ledger_imbalance', change: 'opened' }])
  expect(await openImbalances(books)).toMatchObject([{ value: '3', detail: { sum: '3' } }])
  expect(await findings(books)).toEqual([
    `${usdcOnBase}, in base units: debits minus credits are 3 instead of 0: sums of completed days differ from the journals`,
  ])
  expect(await imbalancesOfRunbook(books)).toEqual([{ asset: usdcOnBase, imbalance: '3' }])
  await fixByRunbook(books)
  expect(await auditBooks(books.db)).toMatchObject([{ kind: 'ledger_imbalance', change: 'cleared' }])
  await snapshotBooks(books.db)
  expect(await auditBooks(books.db)).toEqual([])
  expect(await imbalancesOfRunbook(books)).toEqual([])
})

const section = runbookSections().get('depositdledgerimbalance') ?? ''

/** What the section about the alert tells to look for, as the accountant. */
async function imbalancesOfRunbook({ url }: Books): Promise<unknown[]> {
  const [, query = ''] = /```sql\n(.*?)```/s.exec(section) ?? []
  const db = openDatabase<Tables>({ url, poolMax: 1, applicationName: 'test', role: 'depositd_accountant' })
  const { rows } = await sql.raw(query).execute(db)
  await db.destroy()
  return rows
}

/** What the section tells the owner of the tables to do. */
async function fixByRunbook({ url }: Books): Promise<void> {
  const [, statements = ''] = /```\n(begin;.*?)```/s.exec(section) ?? []
  const owner = new Client({ connectionString: url })
  await owner.connect()
  await owner.query(statements)
  await owner.end()
}

async function findings({ db }: Books): Promise<string[]> {
  return (await checkControlTotals.run(db, () => undefined)).findings
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
    `${usdcOnBase}, in base units: books and balances of 1 addresses differ by 9, for example at ${channelAddress}`,
  ])
  await tamper(books, `update balance_point set balance = balance + 9 where ${where}`)
  expect(await auditBooks(books.db)).toMatchObject([{ kind: 'ledger_imbalance', change: 'cleared' }])
})

test('what the audit found is told until a person has resolved it', async () => {
  await using books = await openExampleBooks()
  const untied = async () => (await untiedUnits(books.db)).filter(({ units }) => units !== 0)
  const where = `address = '${channelAddress}' and asset = '${usdcOnBase}'`
  await tamper(books, `update balance_point set balance = balance - 9 where ${where}`)
  await auditBooks(books.db)
  expect(await untied()).toEqual([{ control: 'tie_out', asset: usdcOnBase, units: 0.000009 }])
  const resolved = "resolved_at = now(), resolved_by = 'ana', resolved_reason = 'it was a fee'"
  await tamper(books, `update mismatch set ${resolved}`)
  expect(await untied()).toEqual([])
})

test('a booking of a payment that was never seen is an imbalance, and so is one of another amount', async () => {
  await using books = await openExampleBooks()
  const payment5 = `(select id from ledger_journal where deposit_id = 5 and kind = 'deposit')`
  await tamper(books, `update ledger_transfer set amount = amount + 11 where journal_id = ${payment5}`)
  expect(await findings(books)).toEqual([
    `${usdcOnBase}, in base units: books and balances of 1 addresses differ by 11, for example at ${channelAddress}`,
  ])
  await tamper(books, `update ledger_transfer set amount = amount - 11 where journal_id = ${payment5}`)
  await tamper(books, `update ledger_journal set transfer = 'base/0x1/0' where id = ${payment5}`)
  expect(await findings(books)).toEqual([
    `${usdcOnBase}, in base units: 75000000 are booked for payments that were never seen`,
  ])
})
