import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Book, openBook } from '../book.ts'

let book: Book

beforeAll(async () => {
  book = await openBook()
  const payments = Array.from({ length: 500 }, (_, number) => book.payment(number + 1, false))
  await book.record(payments, 0n)
  await sql`vacuum analyze service.deposit`.execute(book.db)
})

afterAll(() => book.close())

async function planOf(query: string): Promise<string> {
  return book.db.connection().execute(async (db) => {
    await sql`set enable_seqscan = off`.execute(db)
    const { rows } = await sql.raw<Record<'QUERY PLAN', string>>(`explain (costs off) ${query}`).execute(db)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  })
}

/** A sort or a filter would look at every deposit where those that are asked for are rare. */
test.each([
  ['network', `network = 'solana'`, 'Index Scan Backward using deposit_network'],
  ['status', `status = 'refunded'`, 'Index Scan Backward using deposit_status_list'],
])('the newest deposits of one %s are read in the order of their index', async (_what, condition, scan) => {
  const plan = await planOf(
    `select * from service.deposit where ${condition} and sequence < 1000 order by sequence desc limit 51`,
  )
  expect(plan).toContain(scan)
  expect(plan).not.toMatch(/Sort|Filter/)
})

test('what may be converted is read in the order of its index', async () => {
  const plan = await planOf(`
    select * from service.deposit where network = 'mainnet' and sequence > 0
      and (status = 'confirmed' or reason = 'price_missing') order by sequence limit 200`)
  expect(plan).toContain('Index Scan using deposit_to_convert')
  expect(plan).not.toMatch(/Sort|Filter/)
})

test('the balance of a StableWallet is read from an index alone', async () => {
  const plan = await planOf(`
    select sum(to_amount) from service.deposit
    where owner_kind = 'stable_wallet' and owner_id = 'savings' and status = 'credited'`)
  expect(plan).toContain('Index Only Scan using deposit_credited')
  expect(plan).not.toContain('Filter')
})
