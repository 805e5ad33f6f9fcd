import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/store/database.ts'
import { readTotals, summarise } from '../../src/store/gauges.ts'
import type { Tables } from '../../src/store/tables.ts'
import { openBooks } from '../support/books.ts'
import { claim, delivery, payment, webhook } from '../support/evidence.ts'
import { run } from '../support/postgres.ts'

const each = 3_000_000_000

/** Found before that of Postgres: each row counts as so many. */
const manyForOne = `
  create schema many;
  create function many.add_many(bigint) returns bigint language sql as 'select $1 + ${each}';
  create aggregate many.count(*) (sfunc = many.add_many, stype = bigint, initcond = '0');
  do $$ begin
    execute format('alter database %I set search_path = many, pg_catalog, public', current_database());
  end $$`

test('deposits are counted, however many of one kind there are', async () => {
  const books = await openBooks()
  onTestFinished(() => books[Symbol.asyncDispose]())
  await books.receive(webhook(), claim(), payment(), delivery())
  await books.settle()
  await sql`update deposit set deposited_at = now()`.execute(books.db)
  await sql`update deposit_count set count = ${each} where count > 0 and state = 'reconciled'`.execute(
    books.owner,
  )
  await run(books.url, manyForOne)
  await using db = openDatabase<Tables>({ url: books.url, poolMax: 1, applicationName: 'test many' })
  const { deposits, matrix } = await readTotals(db)
  expect(deposits).toEqual([{ state: 'reconciled', service: 'default', network: 'base', count: each }])
  expect(new Set(matrix.map(({ count }) => count))).toEqual(new Set([each]))
  expect((await summarise(db)).states).toEqual([{ state: 'reconciled', count: each }])
})
