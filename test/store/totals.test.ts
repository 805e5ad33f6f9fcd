import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { readTotals, summarise } from '../../src/store/gauges.ts'
import { openBooks } from '../support/books.ts'
import { claim, delivery, payment, webhook } from '../support/evidence.ts'

const each = 3_000_000_000

test('deposits are counted, however many of one kind there are', async () => {
  const books = await openBooks()
  onTestFinished(() => books[Symbol.asyncDispose]())
  await books.receive(webhook(), claim(), payment(), delivery())
  await books.settle()
  await sql`update deposit set deposited_at = now()`.execute(books.db)
  const more = sql`${each - 1}::bigint`
  await sql`insert into deposit_count values ('reconciled', 'default', 'base', ${more})`.execute(books.db)
  await sql`
    insert into deposit_hour
    select hour, service, asset, settlement_asset, matrix, ${more}, 0, 0, 0, 0, 0, 0, 0 from deposit_hour_counted`.execute(
    books.db,
  )
  const { db } = books
  const { deposits, matrix } = await readTotals(db)
  expect(deposits).toEqual([{ state: 'reconciled', service: 'default', network: 'base', count: each }])
  expect(new Set(matrix.map(({ count }) => count))).toEqual(new Set([each]))
  expect((await summarise(db)).states).toEqual([{ state: 'reconciled', count: each }])
})
