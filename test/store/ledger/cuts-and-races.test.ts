import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cutLedger } from '../../../src/store/ledger/maintenance.ts'
import { type Books, makeDeposit, openBooks } from '../../support/books.ts'
import { usdcOnBase } from '../../support/evidence.ts'
import { until } from '../../support/until.ts'
import { countWaiting } from '../../support/waiting.ts'

let books: Books
let depositId: bigint

beforeAll(async () => {
  books = await openBooks()
  depositId = await makeDeposit(books.db, 'base/tx/0')
  await sql`insert into ledger_account (id, asset) values ('assets:a', ${usdcOnBase}), ('equity:b', ${usdcOnBase})`.execute(
    books.db,
  )
})
afterAll(() => books[Symbol.asyncDispose]())

function journal(key: string) {
  return sql`with j as (insert into ledger_journal (posting_key, kind, deposit_id, transfer, event_at, period)
      values (${key}, 'deposit', ${depositId}, 'base/tx/0', '2026-01-15T12:00:00Z', '2026-01-01') returning *)
    insert into ledger_transfer select id, 1, 'assets:a', 'equity:b', ${usdcOnBase}, 1, event_at, recorded_at, period from j`
}

test('a cut waits for what is being booked, and all that comes after it is recorded later', async () => {
  const order: string[] = []
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const slow = books.db.transaction().execute(async (tx) => {
    await journal('in flight').execute(tx)
    begun.resolve()
    await held.promise
    order.push('booked')
  })
  await begun.promise
  const cutting = cutLedger(books.db).then((cut) => {
    order.push('cut')
    return cut
  })
  await until('a cut that waits', async () => (await countWaiting(books.db)) > 0 || order.length > 0 || null)
  held.resolve()
  const [cut] = await Promise.all([cutting, slow])
  expect(order).toEqual(['booked', 'cut'])
  await journal('after the cut').execute(books.db)
  const { rows } = await sql<{ is_before: boolean; is_after: boolean }>`
    select (select id <= ${cut.lastJournal} from ledger_journal where posting_key = 'in flight') as is_before,
      id > ${cut.lastJournal} and recorded_at > ${cut.at}::timestamptz as is_after
    from ledger_journal where posting_key = 'after the cut'`.execute(books.db)
  expect(rows).toEqual([{ is_before: true, is_after: true }])
})

test('a cut of books with nothing in them is before the first journal', async () => {
  await using fresh = await openBooks()
  expect(await cutLedger(fresh.db)).toMatchObject({ lastJournal: 0n })
})

test('a cut gives up where something is being booked for long, and bookings go on', async () => {
  await books.db.transaction().execute(async (tx) => {
    await journal('slow').execute(tx)
    await expect(cutLedger(books.db)).rejects.toThrow('lock timeout')
    await journal('beside it').execute(books.db)
  })
})

test('twenty that open one account at once open it once', async () => {
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, () =>
      sql`insert into ledger_account (id, asset) values ('assets:raced', ${usdcOnBase})`.execute(books.db),
    ),
  )
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('of twenty that book legs of one journal at once, those of other transactions are refused', async () => {
  const key = 'raced leg'
  await journal(key).execute(books.db)
  const add = () =>
    sql`insert into ledger_transfer select id, 2, 'assets:a', 'equity:b', ${usdcOnBase}, 1, event_at, recorded_at, period
      from ledger_journal where posting_key = ${key}`.execute(books.db)
  const results = await Promise.allSettled(Array.from({ length: 20 }, add))
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(0)
})
