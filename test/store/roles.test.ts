import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type Books, openBooks } from '../support/books.ts'
import { claim, delivery, payment, webhook } from '../support/evidence.ts'

let books: Books
let accountant: Kysely<Tables>

beforeAll(async () => {
  books = await openBooks()
  await books.receive(webhook(), claim(), payment(), delivery())
  await books.settle()
  accountant = openDatabase({
    url: books.url,
    poolMax: 2,
    applicationName: 'test accountant',
    role: 'depositd_accountant',
  })
})
afterAll(async () => {
  await accountant.destroy()
  await books[Symbol.asyncDispose]()
})

async function relations(schema: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_schema = ${schema}`.execute(books.db)
  return rows.map(({ name }) => name)
}

test('an accountant reads every view of the accounting schema', async () => {
  const views = await relations('accounting')
  expect(views).toEqual(expect.arrayContaining(['accounting.deposits', 'accounting.value_at_risk']))
  expect(views.length).toBeGreaterThan(15)
  for (const view of views) await sql.raw(`select * from ${view}`).execute(accountant)
  const { rows } = await sql`select state from accounting.deposits`.execute(accountant)
  expect(rows).toEqual([{ state: 'reconciled' }])
})

/** What exports and checks of the books read. */
const booksOf = [
  'asset',
  'ledger_account',
  'ledger_entry',
  'ledger_journal',
  'ledger_period',
  'ledger_period_balance',
  'ledger_period_event',
  'ledger_seal',
  'ledger_snapshot',
  'ledger_snapshot_day',
  'ledger_tie',
  'ledger_transfer',
  'manual_journal',
].map((name) => `public.${name}`)

test('an accountant reads the tables of the books, and no other table or view behind the views', async () => {
  const tables = await relations('public')
  expect(tables).toEqual(expect.arrayContaining(['public.inbox', 'public.owner', ...booksOf]))
  for (const table of tables) {
    const read = sql.raw(`select * from ${table} limit 1`).execute(accountant)
    if (booksOf.includes(table)) await read
    else await expect(read, table).rejects.toThrow('permission denied')
  }
})

test.each([
  'delete from accounting.mismatches',
  'insert into accounting.journal (kind) values (1)',
  "update accounting.journal set kind = 'deposit'",
  'delete from ledger_journal',
  "insert into manual_journal values (1, 'because', 'erin', 'max')",
  'insert into ledger_account select * from ledger_account',
  'update asset set decimals = 2',
  "update deposit set owner_id = 'mine'",
  'select ledger_cut()',
  'create table public.mine (id integer)',
  'create table accounting.mine (id integer)',
  'create temporary table mine (id integer); insert into inbox select 1',
  "select nextval('inbox_id_seq')",
])('an accountant writes nothing: %s', async (statement) => {
  await expect(sql.raw(statement).execute(accountant)).rejects.toThrow(/permission denied|cannot/)
})

test.each([
  'drop table ledger_transfer',
  'alter table ledger_transfer disable trigger all',
  'drop trigger ledger_transfer_append_only on ledger_transfer',
  'create or replace function refuse_change() returns trigger language plpgsql as $$ begin return null; end $$',
  'delete from deposit',
  'delete from evidence',
  'delete from kysely_migration',
  'create table mine (id integer)',
  'set session_replication_role = replica',
])('the daemon cannot take the guards away: %s', async (statement) => {
  await expect(sql.raw(statement).execute(books.db)).rejects.toThrow(/permission denied|must be owner/)
})

test('every view and every column that accountants read says what it means', async () => {
  const { rows } = await sql`
    select c.relname, a.attname from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum >= 0
    where c.relnamespace = 'accounting'::regnamespace and c.relkind = 'v' and not a.attisdropped
      and col_description(c.oid, a.attnum) is null
    union all
    select relname, 'itself' from pg_class
    where relnamespace = 'accounting'::regnamespace and relkind = 'v' and obj_description(oid) is null`.execute(
    books.db,
  )
  expect(rows).toEqual([])
})
