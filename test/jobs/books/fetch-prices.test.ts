import { afterAll, beforeAll, expect, test } from 'vitest'
import { fetchPrices } from '../../../src/jobs/books/fetch-prices.ts'
import { listPrices } from '../../../src/store/ledger/prices.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { type RawService, startRawService } from '../../support/raw-service.ts'

let books: Books
let served: RawService

const files: Readonly<Record<string, string>> = {
  '/eur.csv':
    'asset,currency,at,price,source\r\nbase/USDC,EUR,2026-01-01,0.92,desk\r\nbase/USDT,EUR,2026-01-01,0.91,desk\r\n',
  '/wrong.csv':
    'asset,currency,at,price,source\nbase/DOGE,EUR,2026-01-02,1,desk\nbase/USDC,EUR,2026-01-02,0.93,desk\nbase/USDC,EUR,2999-01-01,1,desk\n',
  '/large.csv': 'x'.repeat(9 * 1024 * 1024),
}

beforeAll(async () => {
  books = await openBooks()
  served = await startRawService(({ url = '' }, response) => {
    const file = files[url]
    response.writeHead(file === undefined ? 503 : 200).end(file)
  })
})
afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await books[Symbol.asyncDispose]()
})

test('the prices of an address are imported, once', async () => {
  expect(await fetchPrices(books.db, `${served.url}/eur.csv`)).toEqual({ prices: 2, added: 2 })
  expect(await fetchPrices(books.db, `${served.url}/eur.csv`)).toEqual({ prices: 2, added: 0 })
})

test.each([
  ['/large.csv', /the file is larger than 8388608 bytes/],
  ['/gone.csv', /HTTP 503/],
])('%s is refused', async (path, problem) => {
  await expect(fetchPrices(books.db, `${served.url}${path}`)).rejects.toMatchObject({
    code: 'remote_failed',
    details: { what: `the prices of ${new URL(served.url).host}`, problem: expect.stringMatching(problem) },
  })
  expect(await listPrices(books.db, { limit: 10 })).toHaveLength(2)
})

test('a line with a problem is named, and the others are imported', async () => {
  await expect(fetchPrices(books.db, `${served.url}/wrong.csv`)).rejects.toMatchObject({
    code: 'remote_failed',
    details: {
      problem: expect.stringMatching(
        /^prices line 2: there is no asset "base\/DOGE".*; prices line 4: .*in the future$/,
      ),
    },
  })
  expect(await listPrices(books.db, { limit: 10 })).toHaveLength(3)
})

test('an address that does not answer is named', async () => {
  await expect(fetchPrices(books.db, 'http://127.0.0.1:1/eur.csv')).rejects.toThrow(
    'the prices of 127.0.0.1:1',
  )
})
