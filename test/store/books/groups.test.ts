import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { linkGroups, saveRechecks, takeDueGroups } from '../../../src/store/books/groups.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at, claim, delivery, payment, webhook, withdrawal } from '../../support/evidence.ts'

let books: Books

beforeAll(async () => {
  books = await openBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

function link(...keysOfItems: string[][]): Promise<bigint[]> {
  return inTransaction(books.db, (tx) => linkGroups(tx, keysOfItems))
}

async function groupOf(key: string): Promise<bigint | undefined> {
  const row = await books.db
    .selectFrom('link_key')
    .select('group_id')
    .where('key', '=', key)
    .executeTakeFirst()
  return row?.group_id
}

test('items that share a key, directly or through others, get one group; others get their own', async () => {
  const [one, two, three, four] = await link(['a1', 'a2'], ['b1'], ['a3', 'a2'], ['a3', 'a4'])
  expect([three, four]).toEqual([one, one])
  expect(two).not.toBe(one)
  expect(await link(['a4'], ['b1', 'b2'])).toEqual([one, two])
  expect(await groupOf('b2')).toBe(two)
})

test('groups that turn out to be one are joined into the oldest, and the others keep no key', async () => {
  const [first, second] = await link(['c1'], ['c2'])
  const joined = await link(['c2', 'c1'])
  expect(joined).toEqual([first])
  expect(await groupOf('c2')).toBe(first)
  expect(second).not.toBe(first)
})

test('an item that knows only a group which others join in the same call goes where they go', async () => {
  const [left] = await link(['d1'])
  await link(['d2', 'd3'])
  expect(await link(['d1', 'd2'], ['d3'])).toEqual([left, left])
  expect(await groupOf('d3')).toBe(left)
})

test('a chain of groups that are joined pair by pair in one call ends in one group', async () => {
  const [first] = await link(['e1'])
  await link(['e2', 'e3'])
  await link(['e4', 'e5'])
  expect(await link(['e5'], ['e3', 'e4'], ['e1', 'e2'])).toEqual([first, first, first])
  for (const key of ['e1', 'e2', 'e3', 'e4', 'e5']) expect(await groupOf(key)).toBe(first)
})

test('twenty that link the same new keys at once end in one group', async () => {
  const race = Array.from({ length: 20 }, (_, place) => link(['race', `race ${place}`]))
  const groups = (await Promise.all(race)).flat()
  expect(new Set(groups).size).toBe(1)
  const { rows } = await sql`
    select distinct group_id from link_key where key = 'race' or key like 'race %'`.execute(books.db)
  expect(rows).toEqual([{ group_id: groups[0] }])
})

test('what two groups held moves to the one they become: evidence, deposits and mismatches', async () => {
  await using own = await openBooks()
  await own.receive(webhook({ deposit: { tx: null, index: null } }), delivery())
  await own.settle()
  await own.receive(payment())
  await own.settle()
  const before = await sql<{ groups: bigint }>`
    select count(distinct group_id) as groups from evidence`.execute(own.db)
  expect(before.rows).toEqual([{ groups: 2n }])
  await own.receive(claim())
  await own.settle()
  const { rows } = await sql<{ table: string; groups: bigint }>`
    select 'evidence' as table, count(distinct group_id) as groups from evidence
    union all select 'deposit', count(distinct group_id) from deposit
    union all select 'mismatch', count(distinct group_id) from mismatch
    union all select 'key', count(distinct group_id) from link_key`.execute(own.db)
  expect(Object.fromEntries(rows.map(({ table, groups }) => [table, groups]))).toEqual({
    evidence: 1n,
    deposit: 1n,
    mismatch: 1n,
    key: 1n,
  })
})

test('a withdrawal moves with its group', async () => {
  await using own = await openBooks()
  const linkOwn = (...keys: string[]) => inTransaction(own.db, (tx) => linkGroups(tx, [keys]))
  const [first] = await linkOwn('earlier')
  await own.receive(withdrawal())
  await own.settle()
  await linkOwn('earlier', 'withdrawal/savings/w-1')
  const { rows } = await sql`select group_id from withdrawal`.execute(own.db)
  expect(rows).toEqual([{ group_id: first }])
})

test('groups are taken when their time has come, by one worker each, and not again', async () => {
  const [early, late, never] = await link(['due 1'], ['due 2'], ['due 3'])
  const rechecks = [
    { groupId: early ?? 0n, at: at(1) },
    { groupId: late ?? 0n, at: at(9) },
    { groupId: never ?? 0n, at: null },
  ]
  await inTransaction(books.db, (tx) => saveRechecks(tx, rechecks))
  await inTransaction(books.db, async (tx) => {
    expect(await takeDueGroups(tx, at(1), 10)).toEqual([early])
    await inTransaction(books.db, async (other) => {
      expect(await takeDueGroups(other, at(10), 10)).toEqual([late])
    })
    await saveRechecks(tx, [{ groupId: early ?? 0n, at: null }])
  })
  expect(await inTransaction(books.db, (tx) => takeDueGroups(tx, at(10), 10))).toEqual([late])
})

test('what a batch bears on is looked up, and no table is read through, however much is stored', async () => {
  await sql`
    with made as (insert into evidence_group (recheck_at) select null from generate_series(1, 60000) returning id)
    insert into link_key (key, group_id) select 'stored/' || id, id from made`.execute(books.db)
  const keys = Array.from({ length: 1500 }, (_, place) => [`stored/${20 * place + 1000}`, `new/${place}`])
  const { rows } = await inTransaction(books.db, async (tx) => {
    const groups = await linkGroups(tx, keys)
    await saveRechecks(
      tx,
      [...new Set(groups)].slice(0, 500).map((groupId) => ({ groupId, at: at(5) })),
    )
    return sql<{ name: string; read: number }>`
      select relname as name, seq_scan::int as read from pg_stat_xact_user_tables
      where relname in ('link_key', 'evidence_group') order by relname`.execute(tx)
  })
  expect(rows).toEqual([
    { name: 'evidence_group', read: 0 },
    { name: 'link_key', read: 0 },
  ])
})
