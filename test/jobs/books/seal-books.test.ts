import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { journalFields, legFields, noHash, withHash } from '../../../src/ledger/seal.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { cutLedger } from '../../../src/store/ledger/maintenance.ts'
import { insertSeal, leavesOfSeal, newestSeals, timeText } from '../../../src/store/ledger/seals.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { bookPayments, bookWithin, checkAll, seal } from '../../support/sealed-books.ts'
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

test('nothing is sealed where nothing is booked', async () => {
  expect(await seal(books)).toEqual([])
})

test('every column of journals and transfers is sealed', async () => {
  const [journal, manual] = [await columnsOf('ledger_journal'), await columnsOf('manual_journal')]
  const columns = [...journal, ...manual.filter((name) => name !== 'journal_id')]
  expect(columns.toSorted()).toEqual([...journalFields].toSorted())
  expect(await columnsOf('ledger_transfer')).toEqual([...legFields, 'journal_id'].toSorted())
})

test('a seal follows on the one before it, over what was written since', async () => {
  await bookPayments(books, 100, 3)
  const [first, ...others] = await seal(books)
  expect(first).toMatchObject({ number: '1', after: '0', last: '3', journals: '3', previous: noHash })
  expect(others).toEqual([])
  expect(await seal(books)).toEqual([])
  await bookPayments(books, 200, 2)
  const [second] = await seal(books)
  expect(second).toMatchObject({ number: '2', after: '3', last: '5', journals: '2', previous: first?.hash })
  expect(await newestSeals(books.db, { limit: 9 })).toEqual([second, first])
})

test('a seal ends where it is full, and the next one goes on from there', async () => {
  await using own = await openBooks()
  await bookPayments(own, 1, 4100)
  const seals = await seal(own)
  expect(seals.map(({ after, last, journals }) => [after, last, journals])).toEqual([
    ['0', '4096', '4096'],
    ['4096', '4100', '4'],
  ])
  const checked = await checkAll(own)
  expect(checked).toEqual([
    { journals: 4096, faults: [] },
    { journals: 4, faults: [] },
  ])
})

test('a booking that is under way is waited for, and what is booked next is left to the next seal', async () => {
  await using own = await openBooks()
  const sealing = await inTransaction(own.db, async (tx) => {
    await bookWithin(tx, 100, 3)
    const made = { seals: seal(own) }
    await untilWaiting(own.db)
    return made
  })
  await bookPayments(own, 200, 2)
  const [made] = await sealing.seals
  expect(made).toMatchObject({ after: '0', last: '3', journals: '3' })
})

test('of twenty who seal at once each journal is sealed once', async () => {
  await using own = await openBooks()
  await bookPayments(own, 1, 5)
  const made = await Promise.all(Array.from({ length: 20 }, () => seal(own)))
  expect(made.flat()).toHaveLength(1)
  const twenty = Array.from({ length: 20 }, async (_none, writer) => {
    await bookPayments(own, 1000 + writer * 10, 3)
    return seal(own)
  })
  await Promise.all(twenty)
  await seal(own)
  const checked = await checkAll(own)
  expect(checked.flatMap(({ faults }) => faults)).toEqual([])
  expect(checked.reduce((sum, { journals }) => sum + journals, 0)).toBe(65)
})

test('of two who store the same seal at the same moment one does', async () => {
  await using own = await openBooks()
  await bookPayments(own, 1, 100)
  const cut = await inTransaction(own.db, cutLedger)
  const first = {
    number: '1',
    after: '0',
    last: cut.lastJournal.toString(),
    journals: '100',
    previous: noHash,
  }
  const made = withHash({ ...first, root: 'a'.repeat(64), sealedAt: cut.at })
  const storing = await inTransaction(own.db, async (tx) => {
    await holdUpLongValues(tx, 'ledger_seal')
    const both = [made, made].map((one) => insertSeal(own.db, one, Buffer.alloc(100 * 40)))
    await untilWaiting(own.db, 2)
    return { both: Promise.all(both) }
  })
  expect((await storing.both).filter((isStored) => isStored)).toHaveLength(1)
})

test('a seal that does not follow on the last one is refused, whoever makes it', async () => {
  const [newest] = await newestSeals(books.db, { limit: 1 })
  if (newest === undefined) throw new Error('there is a seal')
  const leaves = (await leavesOfSeal(books.db, newest.number)) ?? Buffer.of()
  const next = { ...newest, number: '3', after: '5', last: '9', previous: newest.hash, hash: 'a'.repeat(64) }
  const others = [{ number: '4' }, { after: '4' }, { previous: noHash }, { journals: '3' }]
  for (const other of others)
    await expect(insertSeal(books.db, { ...next, ...other }, leaves)).rejects.toThrow(/violates/)
  expect(await insertSeal(books.db, newest, leaves)).toBe(false)
})

test.each([
  'update ledger_seal set journals = 1',
  'delete from ledger_seal',
  'truncate ledger_seal',
  'alter table ledger_seal disable trigger all',
  'drop table ledger_seal',
])('the daemon cannot change a seal: %s', async (statement) => {
  await expect(sql.raw(statement).execute(books.db)).rejects.toThrow(/permission denied|must be owner/)
})

test('a seal is not changed by its owner either, unless the guard is taken away', async () => {
  const statement = 'set local role none; delete from ledger_seal'
  await expect(sql.raw(statement).execute(books.db)).rejects.toThrow('append-only')
})

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
