import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  canaryAge,
  claimCanary,
  endCanary,
  receiveCanary,
  startCanary,
  switchCanary,
} from '../../src/store/canary.ts'
import { type Books, openBooks } from '../support/books.ts'

let books: Books
beforeEach(async () => {
  books = await openBooks()
})
afterEach(() => books[Symbol.asyncDispose]())

const hourMs = 3_600_000
const claim = () => claimCanary(books.db, hourMs)

test('one of twenty concurrent claims succeeds', async () => {
  await switchCanary(books.db, true)
  const claims = await Promise.all(Array.from({ length: 20 }, claim))
  expect(claims.filter((isMine) => isMine)).toHaveLength(1)
})

test('a canary is due again after its interval', async () => {
  expect(await claim()).toBe(true)
  await sql`update canary set started_at = now() - interval '59 minutes'`.execute(books.db)
  expect(await claim()).toBe(false)
  await sql`update canary set started_at = now() - interval '60 minutes'`.execute(books.db)
  expect(await claim()).toBe(true)
})

test('only an issued token is recognized, and only its arrival counts as a success', async () => {
  await claim()
  await sql`update canary set since = now() - interval '1 hour'`.execute(books.db)
  await startCanary(books.db, 'token')
  expect(await receiveCanary(books.db, 'another')).toBe(false)
  expect(await endCanary(books.db, 'token')).toBe(false)
  expect(await canaryAge(books.db)).toBeGreaterThan(3590)
  expect(await receiveCanary(books.db, 'token')).toBe(true)
  expect(await receiveCanary(books.db, 'token')).toBe(true)
  expect(await endCanary(books.db, 'token')).toBe(true)
  expect(await canaryAge(books.db)).toBeLessThan(60)
})

test('tokens are forgotten after a day', async () => {
  await startCanary(books.db, 'old')
  await sql`update canary_webhook set sent_at = now() - interval '25 hours'`.execute(books.db)
  await startCanary(books.db, 'new')
  expect(await receiveCanary(books.db, 'old')).toBe(false)
  expect(await receiveCanary(books.db, 'new')).toBe(true)
})

test('the age counts from the last success, and from now if the canary was off', async () => {
  expect(await canaryAge(books.db)).toBeNull()
  await switchCanary(books.db, true)
  await sql`
    update canary set since = now() - interval '9 hours', succeeded_at = now() - interval '8 hours'`.execute(
    books.db,
  )
  await switchCanary(books.db, true)
  expect(await canaryAge(books.db)).toBeCloseTo(8 * 3600, -2)
  await switchCanary(books.db, false)
  expect(await canaryAge(books.db)).toBeNull()
  await switchCanary(books.db, true)
  expect(await canaryAge(books.db)).toBeLessThan(60)
})
