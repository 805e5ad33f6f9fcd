import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { addUpCounts, countDeposits, recountDeposits } from '../../../src/store/books/deposit-counts.ts'
import type { Books } from '../../support/books.ts'
import { claim, delivery, payment, webhook } from '../../support/evidence.ts'
import { openScriptedWork, type ScriptedWork } from '../../support/scripted-work.ts'

let world: ScriptedWork
let books: Books

beforeEach(async () => {
  world = await openScriptedWork()
  ;({ books } = world)
})
afterEach(() => world[Symbol.asyncDispose]())

async function countAll() {
  const { rows } = await sql`
    select state, service, coalesce(network, '') as network, count(*)::float8 as count
    from deposit where merged_into is null group by 1, 2, 3 order by 1, 2, 3`.execute(books.db)
  return rows
}

async function storedRows(table: 'deposit_count' | 'deposit_hour'): Promise<number> {
  return (await sql`select from ${sql.table(table)}`.execute(books.db)).rows.length
}

const unnamed = { deposit: { tx: null, index: null }, settlement: { tx: null } }

test('deposits are counted as they arrive, change and merge', async () => {
  for (const [observations, expected] of [
    [[webhook(unnamed)], ['observed 1']],
    [[payment()], ['confirmed 1', 'observed 1']],
    [[webhook(), claim(), delivery()], ['reconciled 1']],
  ] as const) {
    await books.receive(...observations)
    await books.settle()
    expect((await countDeposits(books.db)).map(({ state, count }) => `${state} ${count}`)).toEqual(expected)
    expect(await countDeposits(books.db)).toEqual(await countAll())
    expect(await recountDeposits(books.db)).toEqual([])
  }
})

test('what writers add while sums are made, and while all are counted, is counted once', async () => {
  const writers = Array.from(
    { length: 300 },
    (_, place) =>
      sql`insert into deposit (group_id, service_id, state, network, matrix, webhook_at)
      select id, ${`dep_${place}`}, 'observed', 'base', '{}', now() from added`,
  )
  const write = async (insert: (typeof writers)[number]) => {
    await sql`with added as (insert into evidence_group (recheck_at) values (null) returning id) ${insert}`.execute(
      books.db,
    )
    await sql`update deposit set state = 'settled' where id % 2 = 0 and state = 'observed'`.execute(books.db)
  }
  const adding = Array.from({ length: 20 }, () => addUpCounts(books.db))
  const wrong = Promise.all(Array.from({ length: 5 }, () => recountDeposits(books.db)))
  await Promise.all([...writers.map(write), ...adding])
  expect((await wrong).flat()).toEqual([])
  expect(await countDeposits(books.db)).toEqual(await countAll())
  expect(await recountDeposits(books.db)).toEqual([])
})

test('a sweep replaces many differences by their sums', async () => {
  await sql`insert into deposit_count select 'observed', 'default', 'base', 1 - 2 * (n % 2) from generate_series(1, 300) as n`.execute(
    books.db,
  )
  await books.receive(payment())
  const { apply, sweep } = world.work()
  await apply()
  for (let count = 0; count < 200; count++) await sql`update deposit set updated_at = now()`.execute(books.db)
  expect(await storedRows('deposit_hour')).toBeGreaterThan(400)
  await sweep()
  expect([await storedRows('deposit_count'), await storedRows('deposit_hour')]).toEqual([1, 1])
  expect(await recountDeposits(books.db)).toEqual([])
})

test('an audit corrects numbers that are wrong, and says so', async () => {
  await books.receive(payment())
  await books.settle()
  await sql`update deposit_count set count = 7`.execute(books.owner)
  const { audit } = world.work()
  await expect(audit()).rejects.toThrow(
    'numbers of deposits were wrong and are corrected: 7 instead of 1 confirmed of default on base, and 0 more',
  )
  expect(await countDeposits(books.db)).toEqual(await countAll())
  await sql`update deposit_hour set paid = paid + 1`.execute(books.owner)
  await expect(audit()).rejects.toThrow(/: sums of default in the hour of 2026-.*:00:00.000Z, and 0 more/)
  await audit()
})
