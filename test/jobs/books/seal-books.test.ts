import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sealBooks } from '../../../src/jobs/books/seal-books.ts'
import { isSignedBy, makeSigningKey, readCheckpoint } from '../../../src/ledger/checkpoint.ts'
import { rootOf, rootOfRange } from '../../../src/ledger/merkle-tree.ts'
import { sealedTable, sealedTableNames } from '../../../src/ledger/sealed-tables.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { timeText } from '../../../src/store/ledger/sealed-rows.ts'
import {
  afterSize,
  checkpointsAfter,
  hashesIn,
  hashReader,
  insertSeal,
  newestCheckpoint,
  sealsAfter,
} from '../../../src/store/ledger/seals.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { bookPayments, bookWithin, checkLog, seal } from '../../support/sealed-books.ts'
import { holdUpLongValues, untilWaiting } from '../../support/waiting.ts'

let books: Books

beforeAll(async () => {
  books = await openBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

async function columnsOf(table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped`.execute(books.db)
  return rows.map(({ name }) => name).toSorted()
}

test.each(sealedTableNames)('every column of %s and of its parts is sealed', async (table) => {
  const { columns, joined, lines } = sealedTable(table)
  expect(await columnsOf(table)).toEqual(Object.keys(columns).toSorted())
  for (const part of [joined, lines].filter((one) => one !== undefined))
    expect(await columnsOf(part.table)).toEqual([...Object.keys(part.columns), part.by].toSorted())
})

const journalSeals = async ({ db }: Books) =>
  (await sealsAfter(db, 0n, 100)).filter(({ table }) => table === 'ledger_journal')

test('a seal follows on the one before it, over what was written since', async () => {
  await bookPayments(books, 100, 3)
  const first = await seal(books)
  expect(first).toMatchObject({ busy: [], checkpoint: { size: first.rows } })
  expect(await seal(books)).toEqual({ ...first, rows: 0 })
  await bookPayments(books, 200, 2)
  expect(await seal(books)).toMatchObject({ rows: 2, checkpoint: { size: first.rows + 2 } })
  expect(await journalSeals(books)).toMatchObject([
    { after: null, last: 3n, leaves: 3 },
    { after: 3n, last: 5n, leaves: 2, firstLeaf: first.rows },
  ])
  expect(await checkLog(books)).toEqual([])
})

const receive = (db: Books['db'], count: number) =>
  sql`insert into inbox (source, source_key, body, received_at)
    select 'chain', gen_random_uuid()::text, '', now() from generate_series(1, ${count}::int)`.execute(db)

test('a seal ends where it is full; its nodes and checkpoints are those of the tree over all leaves', async () => {
  await using own = await openBooks()
  for (const count of [4100, 66_000]) {
    await receive(own.db, count)
    await seal(own)
  }
  const seals = await sealsAfter(own.db, 0n, 100)
  expect(seals.slice(0, 2)).toMatchObject([
    { last: 4096n, leaves: 4096 },
    { last: 4100n, leaves: 4 },
  ])
  const leaves = seals.flatMap(({ hashes }) => hashesIn(hashes))
  for (const { size, root } of await checkpointsAfter(own.db, afterSize(0), { limit: 9 }))
    expect(rootOf(leaves.slice(0, size))).toEqual(root)
  expect(await hashReader(own.db)(16, 0, 1)).toEqual([rootOf(leaves.slice(0, 65_536))])
  expect(await rootOfRange(hashReader(own.db), { from: 0, to: 4099 })).toEqual(rootOf(leaves.slice(0, 4099)))
})

test('a booking that is under way is waited for without blocking others; what is booked next is left', async () => {
  await using own = await openBooks()
  // The accounts exist: a booking waits for another one that makes them.
  await bookPayments(own, 1, 1)
  const sealing = await inTransaction(own.db, async (tx) => {
    await bookWithin(tx, 100, 3)
    const made = { result: seal(own) }
    await bookPayments(own, 200, 2)
    return made
  })
  await sealing.result
  await seal(own)
  expect((await journalSeals(own)).reduce((sum, { leaves }) => sum + leaves, 0)).toBe(6)
  expect(await checkLog(own)).toEqual([])
})

test('a booking that does not end leaves its table for the next time, and all others are sealed', async () => {
  await using own = await openBooks()
  await bookPayments(own, 1, 1)
  await inTransaction(own.db, async (tx) => {
    await bookWithin(tx, 100, 3)
    await bookPayments(own, 200, 2)
    expect(await seal(own)).toMatchObject({ busy: ['ledger_journal'], checkpoint: { size: 5 } })
  })
  expect(await seal(own)).toMatchObject({ busy: [], rows: 6 })
  expect(await checkLog(own)).toEqual([])
}, 20_000)

test('of twenty who seal at once each row is sealed once', async () => {
  await using own = await openBooks()
  const twenty = Array.from({ length: 20 }, async (_none, writer) => {
    await bookPayments(own, 1000 + writer * 10, 3)
    return seal(own)
  })
  await Promise.all(twenty)
  await seal(own)
  expect((await journalSeals(own)).reduce((sum, { leaves }) => sum + leaves, 0)).toBe(60)
  expect(await checkLog(own)).toEqual([])
})

test('of two who store the same seal at the same moment one does', async () => {
  await using own = await openBooks()
  const [ids, hashes] = [Buffer.alloc(400 * 8), Buffer.alloc(400 * 32)]
  const range = { table: 'inbox', after: null, last: 400n } as const
  const made = { ...range, number: 1n, firstLeaf: 0, leaves: 400, ids, hashes, marks: Buffer.alloc(1) }
  const storing = await inTransaction(own.db, async (tx) => {
    await holdUpLongValues(tx, 'seal')
    const both = [made, made].map((one) => insertSeal(own.db, one))
    await untilWaiting(own.db, 2)
    return { both: Promise.all(both) }
  })
  expect((await storing.both).filter((isStored) => isStored)).toHaveLength(1)
})

test('a seal that does not follow on the last one is refused, whoever makes it', async () => {
  const newest = (await sealsAfter(books.db, 0n, 100)).at(-1)
  if (newest === undefined) throw new Error('there is a seal')
  const { number, last, firstLeaf, leaves } = newest
  const next = {
    ...newest,
    marks: Buffer.of(),
    number: number + 1n,
    after: last,
    last: last + 9n,
    firstLeaf: firstLeaf + leaves,
  }
  const others = [
    { number: number + 2n },
    { after: last - 1n },
    { firstLeaf: firstLeaf + leaves + 1 },
    { leaves: leaves + 1 },
  ]
  for (const other of others)
    await expect(insertSeal(books.db, { ...next, ...other })).rejects.toThrow(/violates/)
  expect(await insertSeal(books.db, { ...newest, marks: Buffer.of() })).toBe(false)
})

test('a checkpoint is signed by the key that is given, also one that nobody had signed', async () => {
  await using own = await openBooks()
  await seal(own)
  const { signer } = makeSigningKey('example.com/books', 'log')
  const { checkpoint } = await sealBooks(own.db, signer)
  const read = readCheckpoint(checkpoint?.note ?? '')
  expect(read).toMatchObject({ origin: 'example.com/books', size: checkpoint?.size, root: checkpoint?.root })
  expect(read !== null && isSignedBy(read, signer)).toBe(true)
})

test.each([
  'update seal set leaves = 1',
  'delete from checkpoint',
  'truncate seal_node',
  'update owner set forward_recipient = null',
  'delete from address_book',
  'alter table seal disable trigger all',
  'drop table checkpoint',
])('the daemon cannot change what is sealed: %s', async (statement) => {
  await expect(sql.raw(statement).execute(books.db)).rejects.toThrow(/permission denied|must be owner/)
})

test.each(['seal', 'seal_node', 'checkpoint', ...sealedTableNames])(
  '%s is not changed by its owner either, unless the guard is taken away',
  async (table) => {
    const statement = `set local role none; delete from ${table}`
    await expect(sql.raw(statement).execute(books.db)).rejects.toThrow('append-only')
  },
)

test('a time has the same text whatever the session is set to, and no two times have the same', async () => {
  const times = [
    '2026-01-01 10:00:00.5+02',
    '0044-03-15 00:00:00+00 BC',
    '0044-03-15 00:00:00+00',
    '12026-01-01 00:00:00+00',
    'infinity',
    '-infinity',
  ]
  const { rows } = await books.db.transaction().execute(async (tx) => {
    await sql.raw("set local datestyle = 'German'; set local timezone = 'Asia/Kolkata'").execute(tx)
    return sql<{
      text: string
    }>`select ${timeText(sql.ref('t'))} as text from unnest(${times}::timestamptz[]) as t`.execute(tx)
  })
  expect(rows.map(({ text }) => text)).toMatchInlineSnapshot(`
    [
      "2026-01-01T08:00:00.500000Z",
      "-63517824000.000000",
      "0044-03-15T00:00:00.000000Z",
      "317336745600.000000",
      "Infinity",
      "-Infinity",
    ]
  `)
})

test('the newest checkpoint is over all that is sealed', async () => {
  const sealed = (await sealsAfter(books.db, 0n, 100)).reduce((sum, { leaves }) => sum + leaves, 0)
  expect((await newestCheckpoint(books.db))?.size).toBe(sealed)
})
