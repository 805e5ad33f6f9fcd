import { afterEach, beforeEach, expect, test } from 'vitest'
import { keepQuarantined, newestQuarantined, type QuarantineRow } from '../../src/store/quarantine.ts'
import { type Books, openBooks } from '../support/books.ts'
import { at } from '../support/evidence.ts'

let books: Books
beforeEach(async () => {
  books = await openBooks()
})
afterEach(() => books[Symbol.asyncDispose]())

function from(source: string, count: number): QuarantineRow[] {
  return Array.from({ length: count }, (_, place) => ({
    receivedAt: at(1),
    source,
    reason: 'signature_wrong',
    headers: {},
    body: Buffer.from(`${source} ${place}`),
  }))
}

test('a client that floods does not hide what others sent before it', async () => {
  const bounds = { rowsMax: 100, bytesMax: 1_000_000 }
  await keepQuarantined(books.db, [...from('quiet', 2), ...from('flood', 50)], bounds)
  const samples = await newestQuarantined(books.db, 5)
  expect(samples.map(({ body }) => body.toString())).toEqual([
    'quiet 0',
    'quiet 1',
    'flood 47',
    'flood 48',
    'flood 49',
  ])
})
