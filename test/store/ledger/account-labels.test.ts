import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../../src/store/database.ts'
import { keepAccountLabels } from '../../../src/store/ledger/accounts.ts'
import type { Tables } from '../../../src/store/tables.ts'
import type { Books } from '../../support/books.ts'
import { openExampleBooks } from '../../support/example-books.ts'

let books: Books
beforeAll(async () => {
  books = await openExampleBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

async function keep(...labels: [pattern: string, code: string | null, name: string | null][]): Promise<void> {
  const owner = openDatabase<Tables>({ url: books.url, poolMax: 1, applicationName: 'test owner' })
  await keepAccountLabels(
    owner,
    labels.map(([pattern, code, name]) => ({ pattern, code, name })),
  )
  await owner.destroy()
}

async function accounts() {
  const { rows } = await sql<{ account: string; normal: string; code: string | null; name: string | null }>`
    select account, normal, code, name from accounting.accounts order by account`.execute(books.db)
  return Object.fromEntries(rows.map(({ account, ...rest }) => [account, rest]))
}

test('each account has the code and the name of the first label that fits it', async () => {
  await keep(
    ['assets:in_transit:*', '1100', 'In transit'],
    ['*:suspense', '2900', null],
    ['assets:*', null, 'Other'],
  )
  expect(await accounts()).toMatchObject({
    'assets:in_transit:base': { normal: 'debit', code: '1100', name: 'In transit' },
    'assets:stable_wallet:savings': { normal: 'debit', code: null, name: 'Other' },
    'trading:stable-wallet/USDC': { normal: 'none', code: null, name: null },
    'liabilities:suspense': { normal: 'credit', code: '2900', name: null },
  })
  const { rows } = await sql`
    select account, code from accounting.trial_balance('2026-02-01') where code is not null
    order by account`.execute(books.db)
  expect(rows).toContainEqual({ account: 'assets:in_transit:base', code: '1100' })
  expect(rows).toContainEqual({ account: 'liabilities:suspense', code: '2900' })
})

test('what has a meaning in SQL has none in a pattern', async () => {
  await keep(['assets:in%transit:_ase', '1', null], ['assets:in_transit:ba_e', '2', null], ['\\*', '3', null])
  expect(Object.values(await accounts()).filter(({ code }) => code !== null)).toEqual([])
})

test('labels that the settings do not have any more are gone', async () => {
  await keep(['*', '1', null])
  await keep()
  expect(Object.values(await accounts()).filter(({ code }) => code !== null)).toEqual([])
})
