import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LedgerTransfer } from '../../../src/core/booking-targets.ts'
import type { AccountId } from '../../../src/core/chart.ts'
import type { TransferRef } from '../../../src/core/evidence.ts'
import type { Amount } from '../../../src/core/money.ts'
import type { Journal } from '../../../src/core/posting.ts'
import { inTransaction, openDatabase } from '../../../src/store/database.ts'
import { bookJournals } from '../../../src/store/ledger/journals.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, makeDeposit, openBooks } from '../../support/books.ts'
import { at, usdcOnBase, usdtOnBase } from '../../support/evidence.ts'

let books: Books
let owner: Kysely<Tables>
let depositId: bigint

beforeAll(async () => {
  books = await openBooks()
  owner = openDatabase({ url: books.url, poolMax: 20, applicationName: 'test owner' })
  depositId = await makeDeposit(books.db, 'base/tx/0')
  await book(journal('first', [transit(5n)]))
})
afterAll(async () => {
  await owner.destroy()
  await books[Symbol.asyncDispose]()
})

const inTransit = 'assets:in_transit:base' as AccountId
const owed = 'liabilities:deposits:channel:shop' as AccountId

function transit(amount: bigint, changes: Partial<LedgerTransfer> = {}): LedgerTransfer {
  return { debit: inTransit, credit: owed, asset: usdcOnBase, amount: amount as Amount, ...changes }
}

function journal(key: string, transfers: LedgerTransfer[], reverses: string | null = null): Journal {
  const kind = reverses === null ? 'deposit' : 'reversal'
  return { key, kind, transfer: 'base/tx/0' as TransferRef, reverses, eventAt: at(0), transfers, depositId }
}

const mirror = (transfer: LedgerTransfer): LedgerTransfer => ({
  ...transfer,
  debit: transfer.credit,
  credit: transfer.debit,
})

function book(one: Journal): Promise<void> {
  return inTransaction(books.db, (tx) => bookJournals(tx, [one]))
}

async function isBooked(key: string): Promise<boolean> {
  const { rows } = await sql`select 1 from ledger_journal where posting_key = ${key}`.execute(books.db)
  return rows.length > 0
}

describe.each(['the daemon', 'the owner of the tables'])('%s', (who) => {
  const db = () => (who === 'the daemon' ? books.db : owner)
  const refusal = /append-only|permission denied/

  test.each([
    ['ledger_account', 'created_at = now()'],
    ['ledger_journal', 'recorded_at = now()'],
    ['ledger_transfer', 'amount = amount + 1'],
    ['inbox', 'received_at = now()'],
  ])('cannot change, remove or empty %s', async (table, change) => {
    await expect(sql.raw(`update ${table} set ${change}`).execute(db())).rejects.toThrow(refusal)
    await expect(sql.raw(`update ${table} set ${change} where false`).execute(db())).rejects.toThrow(refusal)
    await expect(sql.raw(`delete from ${table}`).execute(db())).rejects.toThrow(refusal)
    await expect(sql.raw(`truncate ${table} cascade`).execute(db())).rejects.toThrow(refusal)
  })

  test('cannot add a transfer to a journal that is booked', async () => {
    const late = sql`insert into ledger_transfer
      select id, 9, ${owed}, ${inTransit}, ${usdcOnBase}, 1, event_at, recorded_at, period
      from ledger_journal where posting_key = 'first'`
    await expect(late.execute(db())).rejects.toThrow('already booked')
  })

  test.each([
    ['nothing', [0n, inTransit, owed, usdcOnBase], 'ledger_transfer_amount_check'],
    ['a negative amount', [-1n, inTransit, owed, usdcOnBase], 'ledger_transfer_amount_check'],
    ['from an account to itself', [1n, inTransit, inTransit, usdcOnBase], 'ledger_transfer_check'],
    [
      'an asset that the accounts do not hold',
      [1n, inTransit, owed, usdtOnBase],
      'an account does not exist in that asset',
    ],
    [
      'to an account that is not open',
      [1n, inTransit, 'assets:nowhere', usdcOnBase],
      'an account does not exist in that asset',
    ],
  ] as const)('cannot book %s', async (_what, [amount, debit, credit, asset], reason) => {
    const attempt = sql`with booked as (
      insert into ledger_journal (posting_key, kind, deposit_id, transfer, event_at, period)
      values ('attempt', 'deposit', ${depositId}, 'base/tx/0', now(), ledger_month(now()))
      returning id, event_at, recorded_at, period
    ) insert into ledger_transfer
      select id, 1, ${debit}, ${credit}, ${asset}, ${amount}::numeric, event_at, recorded_at, period from booked`
    await expect(attempt.execute(db())).rejects.toThrow(reason)
    expect(await isBooked('attempt')).toBe(false)
  })
})

test('a journal whose last transfer is refused is not booked at all', async () => {
  await expect(book(journal('half', [transit(1n), transit(0n)]))).rejects.toThrow('amount_check')
  expect(await isBooked('half')).toBe(false)
})

test('twenty racing bookings of one posting key: one wins', async () => {
  const race = Array.from({ length: 20 }, () => book(journal('race', [transit(7n)])))
  const results = await Promise.allSettled(race)
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const lost = results.filter((one) => one.status === 'rejected').map((one) => String(one.reason))
  expect(new Set(lost.map((text) => text.includes('ledger_journal_posting_key_key')))).toEqual(
    new Set([true]),
  )
})

test('a reversal takes back the very transfers of its original', async () => {
  const transfers = [transit(3n), transit(4n, { debit: 'expenses:fees:service' as AccountId })]
  await book(journal('wrong', transfers))
  await book(journal('reversal/wrong', transfers.map(mirror), 'wrong'))
  const { rows } = await sql`
    select e.account from ledger_entry e join ledger_journal j on j.id = e.journal_id
    where j.posting_key like '%wrong' group by e.account having sum(e.amount) <> 0`.execute(books.db)
  expect(rows).toEqual([])
})

test.each<[string, LedgerTransfer[]]>([
  ['has another amount', [mirror(transit(8n)), mirror(transit(2n))]],
  ['leaves a transfer out', [mirror(transit(9n))]],
  ['adds a transfer', [mirror(transit(9n)), mirror(transit(2n)), transit(1n)]],
  ['does not swap the sides', [transit(9n), transit(2n)]],
  ['takes nothing back', []],
])('a reversal that %s is refused', async (what, transfers) => {
  await book(journal(`for ${what}`, [transit(9n), transit(2n)]))
  await expect(book(journal(`bad ${what}`, transfers, `for ${what}`))).rejects.toThrow(
    /does not mirror|no transfers/,
  )
  expect(await isBooked(`bad ${what}`)).toBe(false)
})

test('a reversal cannot be reversed', async () => {
  await book(journal('once', [transit(1n)]))
  await book(journal('reversal/once', [mirror(transit(1n))], 'once'))
  const again = journal('reversal/reversal/once', [transit(1n)], 'reversal/once')
  await expect(book(again)).rejects.toThrow('is a reversal')
})

test('twenty racing reversals of one journal under different keys: one wins', async () => {
  await book(journal('twice', [transit(1n)]))
  const race = Array.from({ length: 20 }, (_, place) =>
    book(journal(`reversal ${place}`, [mirror(transit(1n))], 'twice')),
  )
  const results = await Promise.allSettled(race)
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('what says that it reverses names a journal, and nothing else does', async () => {
  await expect(book(journal('lost', [transit(1n)], 'no such journal'))).rejects.toThrow('check')
  await book(journal('named', [transit(1n)]))
  const odd = { ...journal('odd', [mirror(transit(1n))], 'named'), kind: 'deposit' as const }
  await expect(book(odd)).rejects.toThrow('check')
})

test('an owner whose name has a space has accounts of that name', async () => {
  const spaced = 'liabilities:deposits:channel:my shop' as AccountId
  await book(journal('spaced', [transit(6n, { credit: spaced })]))
  const { rows } = await sql`select balance from ledger_balance where account = ${spaced}`.execute(books.db)
  expect(rows).toEqual([{ balance: '-6' }])
})

test('an amount of 2^200 is exact from booking to every view', async () => {
  const huge = 2n ** 200n
  await book(
    journal('huge', [
      transit(huge, { debit: 'assets:huge' as AccountId, credit: 'equity:huge' as AccountId }),
    ]),
  )
  const { rows } = await sql<{ text: string }>`
    select balance_base::text as text from accounting.balances where account = 'assets:huge'
    union all select amount_base::text from accounting.entries where account = 'assets:huge'
    union all select amount::text from ledger_transfer where debit = 'assets:huge'`.execute(books.db)
  expect(rows.map(({ text }) => BigInt(text))).toEqual([huge, huge, huge])
  const units = await sql<{ balance: string }>`
    select balance from accounting.balances where account = 'assets:huge'`.execute(books.db)
  expect(units.rows[0]?.balance.replace('.', '')).toBe(huge.toString())
})

test.each([
  [0, '340282366920938463463374607431768211455'],
  [18, '340282366920938463463.374607431768211455'],
  [38, '3.40282366920938463463374607431768211455'],
])('with %i decimals no digit of an amount is rounded', async (decimals, expected) => {
  const { rows } = await sql<{ units: string; least: string }>`
    select accounting.in_units(${(2n ** 128n - 1n).toString()}::numeric, ${decimals}::smallint)::text as units,
      accounting.in_units(-1, ${decimals}::smallint)::text as least`.execute(books.db)
  expect(rows[0]?.units).toBe(expected)
  expect(rows[0]?.least.replace(/^-0\.0*(?=1$)/, '-')).toBe('-1')
})
