import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { isFault } from '../../../src/core/errors.ts'
import { importPrices, type PriceImportCounts } from '../../../src/jobs/books/import-prices.ts'
import { openDatabase } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at, credit, usdcOnBase } from '../../support/evidence.ts'

let books: Books

beforeAll(async () => {
  books = await openBooks()
})
afterAll(() => books[Symbol.asyncDispose]())
beforeEach(async () => {
  const owner = openDatabase<Tables>({ url: books.url, poolMax: 1, applicationName: 'test owner' })
  await sql`alter table price disable trigger price_append_only`.execute(owner)
  await sql`truncate price`.execute(owner)
  await sql`alter table price enable trigger price_append_only`.execute(owner)
  await owner.destroy()
})

const head = 'asset,currency,at,price,source'
const line = 'base/USDC,EUR,2026-01-01T10:00:00Z,0.92,ECB'

async function* linesOf(lines: readonly string[]) {
  yield* lines
}

async function take(lines: readonly string[], isDryRun = false): Promise<PriceImportCounts> {
  const file = { name: 'prices.csv', isDryRun, now: at(10_000), onProgress: () => undefined }
  return importPrices(books.db, { ...file, lines: linesOf(lines) })
}

async function faultsOf(lines: readonly string[]): Promise<readonly string[]> {
  try {
    await take(lines)
    return []
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    return error.details.faults
  }
}

async function kept() {
  const { rows } = await sql<Record<string, string>>`
    select asset, currency, price::text as price, source from price order by id`.execute(books.db)
  return rows
}

test('prices are kept with their source, by the label of an asset or by its key, once', async () => {
  const lines = [head, line, '', `"${credit}",USD,2026-01-02,"1.0000","a, b"`]
  expect(await take(lines)).toEqual({ prices: 2, added: 2 })
  expect(await take(lines)).toEqual({ prices: 2, added: 0 })
  expect(await kept()).toEqual([
    { asset: usdcOnBase, currency: 'EUR', price: '0.92', source: 'ECB' },
    { asset: credit, currency: 'USD', price: '1.0000', source: 'a, b' },
  ])
})

test('a dry run tells what it would add, and keeps nothing', async () => {
  expect(await take([head, line], true)).toEqual({ prices: 1, added: 1 })
  expect(await kept()).toEqual([])
})

test('every line that is wrong is named, and none is kept', async () => {
  const lines = [
    `\uFEFF${head}`,
    line,
    'base/USDX,EUR,2026-01-01,1,ECB',
    'base/USDC,EUR,2126-01-01,1,ECB',
    '"base/USDC,EUR',
    line.replace('0.92', '0.93'),
    line.replace('0.92', '0.920'),
  ]
  expect(await faultsOf(lines)).toEqual([
    expect.stringMatching(/^prices\.csv line 3: there is no asset "base\/USDX"/),
    'prices.csv line 4: at is in the future',
    'prices.csv line 5: a quote is not closed',
    'prices.csv line 6: 0.92 was already stored from the same source',
  ])
  expect(await kept()).toEqual([])
})

test('of a file of the wrong sort not every line is named, and of wrong columns the first alone', async () => {
  expect(await faultsOf([])).toEqual(['prices.csv line 1: the file is empty'])
  expect(await faultsOf(['time,price', ...Array.from({ length: 9 }, () => line)])).toHaveLength(1)
  expect(await faultsOf([head, ...Array.from({ length: 5000 }, () => 'no price')])).toHaveLength(20)
})

test('a label that two assets have is none', async () => {
  const owner = openDatabase<Tables>({ url: books.url, poolMax: 1, applicationName: 'test owner' })
  await sql`insert into asset (key, network, symbol, decimals) values ('base/0xfe', 'base', 'USDT', 6)`.execute(
    owner,
  )
  await owner.destroy()
  expect(await faultsOf([head, line.replace('USDC', 'USDT')])).toEqual([
    expect.stringContaining('several have this name'),
  ])
})

test('of twenty imports of the same at once, one adds it', async () => {
  const lines = [head, ...Array.from({ length: 2500 }, (_, place) => line.replace('ECB', `source ${place}`))]
  const all = await Promise.all(Array.from({ length: 20 }, () => take(lines)))
  expect(all.map(({ added }) => added).toSorted((one, other) => one - other)).toEqual([
    ...Array.from({ length: 19 }, () => 0),
    2500,
  ])
  expect(await kept()).toHaveLength(2500)
})

test.each([
  'update price set price = 2',
  'delete from price',
  'truncate price',
  "insert into price (asset, currency, at, price, source) values ('base/none', 'EUR', now(), 1, 'x')",
  'insert into price (asset, currency, at, price, source, imported_at) select key, $$EUR$$, now(), 1, $$x$$, now() from asset',
  "insert into price (asset, currency, at, price, source) select key, 'EUR', now(), 'Infinity', 'x' from asset",
  'update valuation_rule set currency = null',
  "insert into valuation_rule (currency) values ('EUR')",
])('what was imported is not changed, nor made up: %s', async (statement) => {
  await take([head, line])
  await expect(sql.raw(statement).execute(books.db)).rejects.toThrow(/permission denied|append-only|violates/)
})
