import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultService } from '../../src/core/evidence.ts'
import { inTransaction } from '../../src/store/database.ts'
import {
  countMisses,
  markGone,
  missedRecords,
  type ServiceRecord,
  saveRecords,
} from '../../src/store/records.ts'
import { type Books, openBooks } from '../support/books.ts'
import { at } from '../support/evidence.ts'

let books: Books
beforeEach(async () => {
  books = await openBooks()
})
afterEach(() => books[Symbol.asyncDispose]())

const service = defaultService
const record = (id: string, word = 'a'): ServiceRecord => ({
  id,
  time: at(0),
  text: JSON.stringify({ id, word }),
})

const save = (minute: number, ...records: ServiceRecord[]) =>
  inTransaction(books.db, (tx) =>
    saveRecords(tx, records, { service, sentAt: at(minute), receivedAt: at(minute) }),
  )

const revisions = () =>
  books.db
    .selectFrom('inbox')
    .select(['source_key', 'body'])
    .where('source', '=', 'api')
    .orderBy('id')
    .execute()

const miss = (minute: number) =>
  inTransaction(books.db, (tx) => countMisses(tx, service, { startedAt: at(minute), listedSince: null }))
const missed = async (missesMin: number) =>
  (await missedRecords(books.db, service, { missesMin, limit: 9 })).toSorted()

const all = Array.from({ length: 50 }, (_, place) => record(`dep_${place}`))

test('twenty readings of the same records at once keep each once, in whatever order they list them', async () => {
  const readings = Array.from({ length: 20 }, (_, place) => (place % 2 === 0 ? all : all.toReversed()))
  const saved = await Promise.all(readings.map((records) => save(1, ...records)))
  expect(saved.reduce((sum, { stored }) => sum + stored, 0)).toBe(50)
  expect(await revisions()).toHaveLength(50)
})

test('twenty readings at once of a record that changed back keep one more revision', async () => {
  await save(1, record('dep_1', 'a'))
  await save(2, record('dep_1', 'b'))
  await Promise.all(Array.from({ length: 20 }, () => save(3, record('dep_1', 'a'))))
  const kept = await revisions()
  expect(kept.map(({ body }) => (JSON.parse(body.toString()) as { word: string }).word)).toEqual([
    'a',
    'b',
    'a',
  ])
  expect(kept.at(-1)?.source_key).toMatch(/^dep_1\/[0-9a-f]{64}\/3$/)
})

test('a record that was kept before it was followed is kept no second time', async () => {
  await save(1, record('dep_1'))
  await sql`update api_record set hash = '', revision = 0`.execute(books.db)
  expect(await save(2, record('dep_1'))).toEqual({ stored: 0, back: [] })
  expect(await save(3, record('dep_1', 'b'))).toMatchObject({ stored: 1 })
})

test('what was not read since is missed, and once more each time, until it is read', async () => {
  await save(1, record('dep_1'), record('dep_2'))
  await save(5, record('dep_2'))
  await miss(5)
  expect(await missed(1)).toEqual(['dep_1'])
  await miss(6)
  expect([await missed(1), await missed(2)]).toEqual([['dep_1', 'dep_2'], ['dep_1']])
  await save(7, record('dep_1'))
  expect(await missed(1)).toEqual(['dep_2'])
})

test('a record is gone once, and back once', async () => {
  await save(1, record('dep_1'))
  await miss(2)
  const gone = await Promise.all(
    Array.from({ length: 20 }, () =>
      inTransaction(books.db, (tx) => markGone(tx, ['dep_1', 'never read'], at(2))),
    ),
  )
  expect(gone.flat().map(({ id }) => id)).toEqual(['dep_1'])
  const back = await Promise.all(Array.from({ length: 20 }, () => save(3, record('dep_1'))))
  expect(back.flatMap((saved) => saved.back)).toEqual(['dep_1'])
})

test('a record that was read by a clock ahead is read again by one that is right, and can be gone by it', async () => {
  const [hourAhead, minuteAgo] = [Date.now() + 3_600_000, Date.now() - 60_000].map((time) => new Date(time))
  await saveAt(hourAhead, record('dep_1', 'a'))
  expect(await saveAt(minuteAgo, record('dep_1', 'b'))).toMatchObject({ stored: 1 })

  await saveAt(hourAhead, record('dep_2', 'a'))
  await goneNow('dep_2')
  expect((await goneNow('dep_2')).map(({ id }) => id)).toEqual(['dep_2'])
})

function saveAt(time: Date | undefined, one: ServiceRecord) {
  const [sentAt, receivedAt] = [time ?? at(0), time ?? at(0)]
  return inTransaction(books.db, (tx) => saveRecords(tx, [one], { service, sentAt, receivedAt }))
}

function goneNow(id: string) {
  return inTransaction(books.db, (tx) => markGone(tx, [id], new Date()))
}
