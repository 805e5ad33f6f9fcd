import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultService } from '../../src/core/evidence.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'

let database: TestDatabase
let db: Database<Tables>

beforeAll(async () => {
  database = await testDatabase()
  db = openDatabase<Tables>({ url: database.url, poolMax: 1, applicationName: 'test' })
})
afterAll(async () => {
  await db.destroy()
  await database.drop()
})

test('every column for the deposit service has the one service as its default', async () => {
  const { rows } = await sql<{ name: string; value: string }>`
    select table_name::text as name, column_default as value from information_schema.columns
    join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and table_type = 'BASE TABLE' and column_name = 'service' order by 1`.execute(
    db,
  )
  expect(rows).toEqual(
    [
      'address_book',
      'api_record',
      'deposit',
      'inbox',
      'leg_search',
      'link_key',
      'mismatch',
      'owner',
      'proposal',
    ].map((name) => ({ name, value: `'${defaultService}'::text` })),
  )
})

test('every unique key on an id that a service chooses is of one service', async () => {
  const { rows } = await sql<{ index: string }>`
    select indexname::text as index from pg_indexes
    where schemaname = 'public' and indexdef like 'CREATE UNIQUE%'
      and (indexdef ~ '\\m(service_id|source_key|subject|owner_id)\\M' or tablename in ('link_key', 'owner'))
      and indexdef !~ '\\mservice\\M'`.execute(db)
  expect(rows).toEqual([])
})
