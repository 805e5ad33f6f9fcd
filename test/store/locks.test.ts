import type { Transaction } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { linkGroups } from '../../src/store/books/groups.ts'
import { inTransaction } from '../../src/store/database.ts'
import { appendInbox, type NewInboxRow } from '../../src/store/inbox.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type Books, openBooks } from '../support/books.ts'
import { at } from '../support/evidence.ts'
import { untilWaiting } from '../support/waiting.ts'

let books: Books

beforeAll(async () => {
  books = await openBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

/** Begins the work, goes on with the second once it waits for a lock of the first, and returns what both gave. */
async function overlapping<First, Second>(
  first: (tx: Transaction<Tables>, secondWaits: () => Promise<void>) => Promise<First>,
  second: () => Promise<Second>,
): Promise<[First, Second]> {
  const begun = Promise.withResolvers<void>()
  const done = inTransaction(books.db, (tx) =>
    first(tx, async () => {
      begun.resolve()
      await untilWaiting(books.db)
    }),
  )
  await begun.promise
  return Promise.all([done, second()])
}

const link = (...keysOfItems: string[][]) => inTransaction(books.db, (tx) => linkGroups(tx, keysOfItems))

test('a group that somebody works on is waited for', async () => {
  await link(['a'])
  const order: string[] = []
  await overlapping(
    async (tx, secondWaits) => {
      await linkGroups(tx, [['a']])
      await secondWaits()
      order.push('first')
    },
    async () => order.push((await link(['a'])) && 'second'),
  )
  expect(order).toEqual(['first', 'second'])
})

test('whoever waited for a group that was joined to another meanwhile gets the other', async () => {
  const [one] = await link(['b'])
  await link(['c'])
  const [, found] = await overlapping(
    async (tx, secondWaits) => {
      await linkGroups(tx, [['b', 'c']])
      await secondWaits()
    },
    () => link(['c']),
  )
  expect(found).toEqual([one])
})

function row(sourceKey: string): NewInboxRow {
  return { source: 'api', sourceKey, body: Buffer.from('{}'), headers: {}, receivedAt: at(1) }
}

test('two who store the same keys in opposite order do not wait for each other for ever', async () => {
  const [first, second] = await overlapping(
    async (tx, secondWaits) => {
      const a = await appendInbox(tx, [row('a')])
      await secondWaits()
      const z = await appendInbox(tx, [row('z')])
      return a.size + z.size
    },
    () => appendInbox(books.db, [row('z'), row('a')]),
  )
  expect([first, second.size]).toEqual([2, 0])
})
