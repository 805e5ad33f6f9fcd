import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importPrices } from '../../../src/jobs/books/import-prices.ts'
import { openDatabase } from '../../../src/store/database.ts'
import { keepValuation, listPrices } from '../../../src/store/ledger/prices.ts'
import type { Tables } from '../../../src/store/tables.ts'
import type { Books } from '../../support/books.ts'
import { at } from '../../support/evidence.ts'
import { openExampleBooks } from '../../support/example-books.ts'

let books: Books
let accountant: Kysely<Tables>

beforeAll(async () => {
  books = await openExampleBooks()
  const options = { url: books.url, poolMax: 1, applicationName: 'test accountant' }
  accountant = openDatabase<Tables>({ ...options, role: 'depositd_accountant' })
})
afterAll(async () => {
  await accountant.destroy()
  await books[Symbol.asyncDispose]()
})

const hour = 3_600_000
const euro = { currency: 'EUR', maxAgeMs: 2 * hour }

async function* linesOf(lines: readonly string[]) {
  yield 'asset,currency,at,price,source'
  yield* lines
}

async function give(...lines: string[]): Promise<void> {
  const file = { name: 'prices.csv', isDryRun: false, now: at(10_000), onProgress: () => undefined }
  await importPrices(books.db, { ...file, lines: linesOf(lines) })
}

/** Of deposit 2: 250 USDT paid at 11:00 on 1 January, settled at 11:03 as 249.875 USDC with the fee. */
async function conversion() {
  const { rows } = await sql<Record<string, string | null>>`
    select paid::text, delivered::text, currency, paid_price_source, paid_value::text, delivered_price_source,
      delivered_value::text, difference::text
    from accounting.conversion where deposit_id = 2`.execute(accountant)
  return rows
}

const amounts = { paid: '250.000000', delivered: '249.875000' }
const unknown = {
  ...amounts,
  currency: null,
  paid_price_source: null,
  paid_value: null,
  delivered_price_source: null,
  delivered_value: null,
  difference: null,
}

test('nothing is valued by default, though there are prices; what was converted is told', async () => {
  await give('base/USDT,EUR,2026-01-01T10:30:00Z,0.90,desk')
  expect((await sql`select 1 from accounting.valuation`.execute(accountant)).rows).toEqual([])
  expect(await conversion()).toEqual([unknown])
})

test('an amount is valued by the newest price before it, in the currency of the settings, where that is not too old', async () => {
  await keepValuation(books.db, euro)
  await give(
    'base/USDT,EUR,2026-01-01T11:00:01Z,0.80,too late',
    'base/USDT,USD,2026-01-01T10:59:00Z,1.00,other currency',
    'base/USDC,EUR,2026-01-01T11:00:00Z,0.70,other asset',
    'arbitrum/USDC,EUR,2026-01-01T09:02:59Z,0.60,too old',
  )
  const paid = { ...amounts, currency: 'EUR', paid_price_source: 'desk', paid_value: '225.00000000' }
  const open = { delivered_price_source: null, delivered_value: null, difference: null }
  expect(await conversion()).toEqual([{ ...paid, ...open }])
  await give('arbitrum/USDC,EUR,2026-01-01T09:03:00Z,0.91,just young enough')
  const delivered = { delivered_price_source: 'just young enough', delivered_value: '227.38625000' }
  expect(await conversion()).toEqual([{ ...paid, ...delivered, difference: '2.38625000' }])
})

test('of two prices of one time, the one that was given last holds', async () => {
  await give('base/USDT,EUR,2026-01-01T10:30:00Z,0.95,corrected')
  expect(await conversion()).toMatchObject([{ paid_price_source: 'corrected', paid_value: '237.50000000' }])
})

test('each transfer of the books has its value, with price, time and source; a reversal has that of what it takes back', async () => {
  await give('base/USDC,EUR,2026-01-03T08:00:00Z,0.90,desk')
  const { rows } = await sql`
    select kind, debit, credit, amount::text, price::text, price_at, price_source, value::text
    from accounting.valuation where deposit_id = 7 order by journal_id`.execute(accountant)
  const valued = {
    amount: '60.000000',
    price: '0.90',
    price_at: new Date('2026-01-03T08:00:00Z'),
    price_source: 'desk',
  }
  const [transit, owed] = ['assets:in_transit:base', 'liabilities:deposits:channel:shop']
  expect(rows).toEqual([
    { kind: 'deposit', debit: transit, credit: owed, ...valued, value: '54.00000000' },
    { kind: 'reversal', debit: owed, credit: transit, ...valued, value: '54.00000000' },
  ])
  const all = sql<{ all: bigint; rows: bigint }>`
    select (select count(*) from ledger_transfer) as all, count(*) as rows from accounting.valuation`
  const [counted] = (await all.execute(books.db)).rows
  expect(counted?.rows).toBe(counted?.all)
})

test('what is set is kept once for as long as it stays, and can be taken back', async () => {
  const rules = async () =>
    (await sql`select currency from valuation_rule order by id`.execute(books.db)).rows
  await keepValuation(books.db, euro)
  expect(await rules()).toEqual([{ currency: 'EUR' }])
  await keepValuation(books.db, null)
  await keepValuation(books.db, null)
  expect(await rules()).toEqual([{ currency: 'EUR' }, { currency: null }])
  expect(await conversion()).toEqual([unknown])
  await keepValuation(books.db, euro)
  expect(await rules()).toHaveLength(3)
})

test('the newest prices are listed first', async () => {
  const [newest, ...others] = await listPrices(books.db, { limit: 3 })
  expect(newest).toMatchObject({ asset_symbol: 'USDC', price: '0.90', source: 'desk' })
  expect(others).toHaveLength(2)
})
