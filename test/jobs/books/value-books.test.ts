import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { eachInTime, missingPrices, valueBooks } from '../../../src/jobs/books/value-books.ts'
import { addConversionRates, keepValuation } from '../../../src/store/ledger/prices.ts'
import { priceGaps } from '../../../src/store/ledger/values.ts'
import type { Books } from '../../support/books.ts'
import { at, usdtOnBase } from '../../support/evidence.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { bank, bookOwn, drawings, journalOf, type OwnMove, treasury } from '../../support/own-funds.ts'
import { givePrices } from '../../support/valued-books.ts'

let books: Books
const euro = { currency: 'EUR', maxAgeMs: 24 * 3_600_000 }
const assets = ['base/USDC', 'base/USDT', 'arbitrum/USDC', 'stable-wallet/USDC']
const day = 24 * 60

beforeEach(async () => {
  books = await openExampleBooks()
  await keepValuation(books.db, euro)
  await give('2026-01-01,0.90', '2026-01-01T11:01:00Z,0.93', '2026-01-02,0.95')
  onTestFinished(() => books[Symbol.asyncDispose]())
})

const give = (...prices: string[]) =>
  givePrices(
    books,
    prices.flatMap((price) => assets.map((asset) => `${asset},${price}`)),
  )

const rowsOf = async <Row>(text: string) => (await sql.raw<Row>(text).execute(books.db)).rows

test('journals are valued up to the first that lacks a price, and the rest once it is there', async () => {
  const first = await valueBooks(books.db)
  expect(first).toMatchObject({ rule: { currency: 'EUR' }, valued: 15, lastJournal: 15n, upTo: 17n })
  const gaps = await priceGaps(books.db, { after: 15n, upTo: 17n, limit: 20 })
  expect(gaps).toMatchObject([{ journal: 16n, assetSymbol: 'USDC', at: new Date('2026-01-03T08:00:00Z') }])
  expect(missingPrices(gaps, 'EUR')).toMatch(
    /^no price in EUR of USDC \(base\/0x\w+\) at 2026-01-03T08:00:00.000Z, for journal 16\nimport them, no older than /,
  )
  await give('2026-01-03,0.96')
  expect(await valueBooks(books.db)).toMatchObject({ valued: 2, lastJournal: 17n })
})

test('the values sum to zero, follow the units of the books, and are zero where no units are left', async () => {
  await give('2026-01-03,0.96')
  await valueBooks(books.db)
  expect(await rowsOf(`select sum(value)::text as sum from accounting.valued_balances`)).toEqual([
    { sum: '0.00' },
  ])
  const differing = await rowsOf(`
    select account, asset from accounting.balances b
    full join (select * from accounting.valued_balances where asset is not null) v using (account, asset)
    where b.balance_base is distinct from v.balance_base
      or (v.balance = 0 and v.value <> 0 and account !~ '^(income|expenses|equity):')`)
  expect(differing).toEqual([])
  const gains = await rowsOf(`
    select journal_id, kind, value::text from accounting.valued_entries
    where account = 'income:gains:realised' and deposit_id = 2 order by journal_id`)
  // 250 USDT rose from 0.90 to 0.93 on the way; 249.875 of it are delivered, and owed.
  expect(gains).toEqual([
    { journal_id: 5n, kind: 'settlement', value: '-7.38' },
    { journal_id: 6n, kind: 'conversion', value: '7.38' },
  ])
})

test('an asset without a price has that of its whole conversions', async () => {
  await using own = await openExampleBooks()
  await keepValuation(own.db, euro)
  const priced = ['base/USDC', 'arbitrum/USDC', 'stable-wallet/USDC']
  await givePrices(
    own,
    priced.flatMap((asset) => ['01', '02', '03'].map((on) => `${asset},2026-01-${on},0.90`)),
  )
  expect(await valueBooks(own.db)).toMatchObject({ lastJournal: 3n, upTo: 17n })
  const gaps = await priceGaps(own.db, { after: 3n, upTo: 17n, limit: 20 })
  expect(gaps).toMatchObject([{ assetSymbol: 'USDT' }, {}, {}])
  await addConversionRates(own.db)
  await addConversionRates(own.db)
  const { rows } = await sql`select asset, at, price::text, source from price where source <> 'desk'`.execute(
    own.db,
  )
  // 250 USDT became 249.875 USDC.
  expect(rows).toEqual([
    { asset: usdtOnBase, at: at(11 * 60), price: '0.899550000000000000', source: 'conversion' },
  ])
  expect(await valueBooks(own.db)).toMatchObject({ lastJournal: 17n, upTo: 17n })
})

test('a short conversion gives no price', async () => {
  await using own = await openExampleBooks()
  await keepValuation(own.db, euro)
  await givePrices(
    own,
    ['arbitrum/USDC', 'stable-wallet/USDC'].map((asset) => `${asset},2026-01-02,0.90`),
  )
  await addConversionRates(own.db)
  const { rows } = await sql`select at from price where source = 'conversion' order by at`.execute(own.db)
  expect(rows).toEqual([{ at: at(day + 12 * 60) }])
})

test('a journal keeps its values, whatever is imported later, and is valued once', async () => {
  await give('2026-01-03,0.96')
  const all = () => rowsOf(`select * from accounting.valued_entries order by valuation_id, account, asset`)
  await Promise.all(Array.from({ length: 10 }, () => valueBooks(books.db)))
  const before = await all()
  expect(await rowsOf(`select count(*) as count from valued_journal`)).toEqual([{ count: 17n }])
  await give('2026-01-01T10:00:00Z,0.10')
  expect(await valueBooks(books.db)).toMatchObject({ valued: 0 })
  expect(await all()).toEqual(before)
})

test('own funds that are given away are disposals, with their dates and costs', async () => {
  await keepValuation(books.db, { ...euro, own: ['assets:forwarded:*', 'assets:bank:*'] })
  await give('2026-01-03,0.96')
  const sale: OwnMove = { name: 'sold', from: bank, to: drawings, amount: 150_000_000n }
  await bookOwn(books, journalOf({ name: 'moved', from: treasury, to: bank, amount: 300_000_000n }))
  await bookOwn(books, journalOf(sale))
  await valueBooks(books.db)
  const disposals = () =>
    rowsOf(`select account, acquired_at, disposed_at, amount::text, proceeds::text, cost::text, gain::text
      from accounting.disposals order by journal_id, part`)
  const sold = { account: 'assets:bank:main', disposed_at: at(2.5 * day) }
  expect(await disposals()).toEqual([
    {
      ...sold,
      acquired_at: at(10 * 60 + 3),
      amount: '99.900000',
      proceeds: '95.90',
      cost: '89.91',
      gain: '5.99',
    },
    {
      ...sold,
      acquired_at: at(11 * 60 + 3),
      amount: '50.100000',
      proceeds: '48.10',
      cost: '46.59',
      gain: '1.51',
    },
  ])
  const back = journalOf({ ...sale, from: drawings, to: bank })
  await bookOwn(books, { ...back, key: 'reversal/sold', kind: 'reversal', reverses: 'manual/sold' })
  await valueBooks(books.db)
  expect(
    await rowsOf(`select sum(amount)::text as amount, sum(gain)::text as gain from accounting.disposals`),
  ).toEqual([{ amount: '0.000000', gain: '0.00' }])
})

test('a batch ends in time, with one journal at least, and other work runs between its journals', async () => {
  const done: string[] = []
  const note = (what: string) => void done.push(what)
  setImmediate(note, 'other work')
  expect(await eachInTime(['first', 'second'], note, 0)).toBe(1)
  setImmediate(note, 'more of it')
  expect(await eachInTime(['first', 'second'], note)).toBe(2)
  expect(done).toEqual(['first', 'other work', 'first', 'more of it', 'second'])
})

test('the functional currency stays the same, and without one nothing is valued', async () => {
  await valueBooks(books.db)
  await keepValuation(books.db, { ...euro, currency: 'USD' })
  await expect(valueBooks(books.db)).rejects.toMatchObject({
    details: { problem: 'the books are valued in EUR, and the settings name USD' },
  })
  await keepValuation(books.db, null)
  expect(await valueBooks(books.db)).toBeNull()
})

const valued = (journal: number, currency = 'EUR') =>
  `insert into valued_journal (kind, journal_id, event_at, period, rule_id, currency, places)
   values ('journal', ${journal}, '2026-01-01', '2026-01-01', (select max(id) from valuation_rule), '${currency}', 2)`

const refusals = [
  ['update valued_line set value = 0', 'permission denied'],
  ['delete from disposal', 'permission denied'],
  [valued(17), 'in order, without a gap'],
  [valued(16, 'USD'), 'in another currency'],
  [
    `with made as (${valued(16)} returning id) insert into valued_line (valued_id, line, account, units, value)
     select id, 1, 'income:gains:realised', 0, 1 from made`,
    'do not sum to zero',
  ],
  [
    `insert into valued_line (valued_id, line, account, units, value) values (1, 9, 'a', 0, 0)`,
    'already valued',
  ],
]

test('the database refuses changes, gaps, other currencies, and values that do not sum to zero', async () => {
  await valueBooks(books.db)
  for (const [statement = '', refusal] of refusals)
    await expect(sql.raw(statement).execute(books.db)).rejects.toThrow(refusal)
})
