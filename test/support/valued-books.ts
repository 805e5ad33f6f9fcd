import { importPrices } from '../../src/jobs/books/import-prices.ts'
import { keepAccountLabels } from '../../src/store/ledger/accounts.ts'
import { keepValuation } from '../../src/store/ledger/prices.ts'
import { type Books, late } from './books.ts'
import { openExampleBooks } from './example-books.ts'

/** The example books, with a code for each account, valued in euros by a price of each day. */
export async function openValuedBooks(): Promise<Books> {
  const books = await openExampleBooks()
  await keepValuation(books.db, { currency: 'EUR', maxAgeMs: 24 * 3_600_000 })
  await keepAccountLabels(books.db, [{ pattern: '*', code: '1000', name: null }])
  await givePrices(
    books,
    ['2026-01-01,0.9206', '2026-01-02,0.9187', '2026-01-03,0.91112'].flatMap((price) =>
      ['base/USDC', 'base/USDT', 'arbitrum/USDC', 'stable-wallet/USDC'].map((asset) => `${asset},${price}`),
    ),
  )
  return books
}

/** Prices in euros: asset, time, price. */
export async function givePrices(books: Books, prices: readonly string[]): Promise<void> {
  await importPrices(books.db, {
    name: 'prices.csv',
    lines: linesOf(prices.map((price) => `${price},EUR,desk`)),
    isDryRun: false,
    now: new Date(Math.max(late.getTime(), Date.now())),
    onProgress: () => undefined,
  })
}

async function* linesOf(lines: readonly string[]) {
  yield 'asset,at,price,currency,source'
  yield* lines
}
