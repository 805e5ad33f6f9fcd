import { afterAll, beforeAll, expect, test } from 'vitest'
import { valueFindings } from '../../../src/doctor/examine.ts'
import { valueBooks } from '../../../src/jobs/books/value-books.ts'
import type { Books } from '../../support/books.ts'
import { bookOwn, drawings, journalOf, treasury } from '../../support/own-funds.ts'
import { openValuedBooks } from '../../support/valued-books.ts'

let books: Books

beforeAll(async () => {
  books = await openValuedBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const euro = {
  currency: 'EUR',
  maxAgeMs: 86_400_000,
  own: [],
  method: 'fifo',
  pool: 'account',
  prices: [],
  conversionRates: false,
} as const

const findings = (currency: string | null) =>
  valueFindings({ databaseUrl: books.url, valuation: currency === null ? null : { ...euro, currency } })

test('the check of values counts what waits for the next audit, and names a missing price or another currency', async () => {
  expect(await findings(null)).toEqual([])
  expect(await findings('EUR')).toMatchObject([{ state: 'ok', says: '17 journals wait for the next audit' }])
  await valueBooks(books.db)
  expect(await findings('EUR')).toMatchObject([{ state: 'ok', says: '0 journals wait for the next audit' }])
  expect(await findings('USD')).toMatchObject([{ state: 'warning', fix: 'set valuation.currency to EUR' }])
  const late = journalOf({ name: 'late', from: treasury, to: drawings, amount: 1n })
  await bookOwn(books, { ...late, eventAt: new Date('2026-01-20') })
  expect(await findings('EUR')).toMatchObject([
    {
      state: 'warning',
      says: expect.stringMatching(
        /^1 journals have no value: no price in EUR of USDC \(arbitrum\/0x\w+\) at 2026-01-20T/,
      ),
    },
  ])
})
