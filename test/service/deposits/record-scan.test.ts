import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../../src/store/database.ts'
import { untilWaiting } from '../../support/waiting.ts'
import { type Book, openBook } from '../book.ts'

let book: Book

beforeAll(async () => {
  book = await openBook()
})

afterAll(() => book.close())

async function count(type: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from service.event where type = ${type}`.execute(book.db)
  return rows[0]?.count ?? 0
}

test('a scan that waits for whoever signs on its network holds up nobody', async () => {
  const recording = await inTransaction(book.db, async (tx) => {
    await sql`select from service.stream for update`.execute(tx)
    const recorded = book.record([book.payment(1, true)], 0n)
    await untilWaiting(book.db)
    const { rows } = await sql`
      select from pg_locks join pg_database on pg_database.oid = database
      where datname = current_database() and locktype = 'advisory'`.execute(tx)
    return { recorded, held: rows.length }
  })
  await recording.recorded
  expect(recording.held).toBe(0)
})

/** Postgres takes 65,535 parameters in one statement; a block of a busy chain brings more than that many values. */
test('one scan brings 12,000 payments, and the next one makes all of them final', async () => {
  const payments = (final: boolean) => Array.from({ length: 12_000 }, (_, n) => book.payment(n + 1, final))
  await book.record(payments(false).slice(0, 3000), 0n)
  await book.record(payments(false), 0n)
  expect(await count('deposit.detected')).toBe(12_000)
  await book.record(payments(true), 12_000n)
  expect(await count('deposit.confirmed')).toBe(12_000)
  const { rows } = await sql<{ ordered: boolean }>`
    select bool_and(sequence < next) as ordered from (
      select sequence, lead(sequence) over (order by block) as next from service.deposit) as deposit`.execute(
    book.db,
  )
  expect(rows).toEqual([{ ordered: true }])
})
