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
