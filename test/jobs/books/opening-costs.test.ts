import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { checkValues } from '../../../src/jobs/books/check-values.ts'
import { readOpeningFile } from '../../../src/jobs/books/open-books.ts'
import { valueBooks } from '../../../src/jobs/books/value-books.ts'
import type { OwnFunds } from '../../../src/ledger/opening-lots.ts'
import { readAssetNames } from '../../../src/store/assets.ts'
import { keepValuation } from '../../../src/store/ledger/prices.ts'
import type { Books } from '../../support/books.ts'
import { at } from '../../support/evidence.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { manualJournals, people, problemOf } from '../../support/manual-journals.ts'
import { bank, bookOwn, drawings, journalOf } from '../../support/own-funds.ts'
import { tamper } from '../../support/tamper.ts'
import { bookOpening, reverseJournal } from '../../support/unsigned.ts'
import { givePrices } from '../../support/valued-books.ts'

const day = 24 * 60
const ownFunds = { currency: 'EUR', own: ['assets:bank:*'] }
const byHand = { ...people, reason: 'the books begin' }
const moment = at(day + 9 * 60 + 1)
const head = 'account,asset,balance,cost,acquired'
const lots = [
  `${bank},arbitrum/USDC,100,,`,
  `${bank},arbitrum/USDC,40,50.01,2025-11-20`,
  `${bank},arbitrum/USDC,60.0,40.1,2025-03-01`,
]

const prove = () => Promise.resolve({ proofs: [], balances: [] })

let books: Books

beforeEach(async () => {
  books = await openExampleBooks()
  await keepValuation(books.db, { ...ownFunds, maxAgeMs: day * 60_000 })
  const assets = ['base/USDC', 'base/USDT', 'arbitrum/USDC', 'stable-wallet/USDC']
  const days = ['01,0.90', '02,0.95', '03,0.96']
  await givePrices(
    books,
    days.flatMap((price) => assets.map((asset) => `${asset},2026-01-${price}`)),
  )
  onTestFinished(() => books[Symbol.asyncDispose]())
})

async function open(lines: readonly string[], own: OwnFunds = ownFunds) {
  const { accountPatterns } = manualJournals(books.owner)
  const assets = await readAssetNames(books.db)
  const deps = {
    db: books.owner,
    accountPatterns,
    contras: [],
    ownFunds: own,
    assets,
    now: () => at(3 * day),
  }
  const stated = await readOpeningFile(deps, [head, ...lines].join('\n'))
  return bookOpening(deps, { at: moment, received: at(3 * day), stated, toSuspense: false, prove }, byHand)
}

const valuesOf = async (journal: bigint) => {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', account, amount, value) as line from accounting.valued_entries
    where journal_id = ${journal} order by account, amount desc, value desc`.execute(books.db)
  return rows.map(({ line }) => line)
}

test('own funds enter at what they cost, equity has the difference, and disposals take the oldest first', async () => {
  const { id } = await open([...lots, 'assets:in_transit:base,base/USDC,5,,'])
  await bookOwn(books, journalOf({ name: 'sold', from: bank, to: drawings, amount: 70_000_000n }))
  await books.settle()
  await valueBooks(books.db)
  expect(await valuesOf(id)).toEqual([
    'assets:bank:main 100.000000 90.11',
    'assets:in_transit:base 5.000000 4.75',
    'equity:opening 0.000000 4.89',
    'equity:opening -5.000000 -4.75',
    'equity:opening -100.000000 -95.00',
  ])
  const { rows } = await sql`
    select acquired_at, acquired_by, amount::text, proceeds::text, cost::text, gain::text
    from accounting.disposals order by part`.execute(books.db)
  expect(rows).toEqual([
    {
      acquired_at: new Date('2025-03-01'),
      acquired_by: id,
      amount: '60.000000',
      proceeds: '57.60',
      cost: '40.10',
      gain: '17.50',
    },
    {
      acquired_at: new Date('2025-11-20'),
      acquired_by: id,
      amount: '10.000000',
      proceeds: '9.60',
      cost: '12.50',
      gain: '-2.90',
    },
  ])
  expect(await checkValues.run(books.db, () => undefined)).toMatchObject({ findings: [] })
  await tamper(books, 'update opening_lot set cost = cost + 100 where units = 60000000')
  const { findings } = await checkValues.run(books.db, () => undefined)
  expect(findings).toContainEqual(
    expect.stringMatching(`^journal ${id}: its prices give line .: assets:bank:main .* value 9111$`),
  )
})

test('a reversal takes back the costs, and leaves no gain', async () => {
  const { id } = await open([...lots, `liabilities:suspense,arbitrum/USDC,-100,,`])
  await reverseJournal(books.owner, id, byHand)
  await valueBooks(books.db)
  const { rows } = await sql<{ account: string; value: string }>`
    select account, sum(value)::text as value from accounting.valued_entries
    where journal_id in (select id from ledger_journal where id = ${id} or reverses = ${id}) group by account
    order by account`.execute(books.db)
  expect(rows).toEqual([
    { account: 'assets:bank:main', value: '0.00' },
    { account: 'equity:opening', value: '0.00' },
    { account: 'liabilities:suspense', value: '0.00' },
  ])
  expect(await valuesOf(id)).toContain('equity:opening 0.000000 4.89')
})

test('lots that differ from the total, or that cannot have a cost, are refused', async () => {
  const faulty = [
    `${bank},arbitrum/USDC,100.5,,`,
    ...lots.slice(1),
    `${bank},base/USDC,5,1.00,2025-03-01`,
    `${bank},base/USDC,6,1.00,2025-03-01`,
    `${bank},base/USDT,5,1.001,2025-03-01`,
    `${bank},stable-wallet/USDC,5,1.00,`,
    `liabilities:suspense,base/USDC,-5,1.00,2025-03-01`,
    'assets:in_transit:base,base/USDC,5,1.00,2025-03-01',
    'assets:in_transit:arbitrum,arbitrum/USDC,5,1.00,yesterday',
  ]
  expect((await problemOf(open(faulty))).split('; ').toSorted()).toMatchInlineSnapshot(`
    [
      "line 10: has a cost, but assets:in_transit:base is not in valuation.own of the settings",
      "line 11: yesterday is neither a day nor a time, like 2025-11-20",
      "line 2: states 100.5, but the lines with a cost have 100.000000 in total",
      "line 6: repeats line 5",
      "line 7: 1.001 is not an amount of EUR, which has 2 decimals",
      "line 8: cost and acquired must both be given, or neither",
      "line 9: -5 units have no cost: only a balance above zero has one",
    ]
  `)
  expect(await problemOf(open(lots.slice(1), null))).toMatchInlineSnapshot(
    `"line 2: has a cost, but the settings name no currency in valuation; line 3: has a cost, but the settings name no currency in valuation"`,
  )
  expect(await problemOf(open([`${bank},base/USDC,5,1.00,2026-01-03`]))).toMatchInlineSnapshot(
    `"units of assets:bank:main were acquired at 2026-01-03T00:00:00.000Z, after the opening"`,
  )
  await valueBooks(books.db)
  expect(await problemOf(open(lots, { ...ownFunds, currency: 'USD' }))).toMatchInlineSnapshot(
    `"the books are valued in EUR, and the settings name USD"`,
  )
})

test('the currency of the costs is that of the books', async () => {
  await open(lots)
  await keepValuation(books.db, { ...ownFunds, currency: 'USD', maxAgeMs: day * 60_000 })
  expect(await problemOf(valueBooks(books.db))).toBe('the books are valued in EUR, and the settings name USD')
  await expect(
    sql`insert into opening_lot (journal_id, account, asset, acquired_at, units, cost, currency)
      select journal_id, account, asset, '2024-01-02', 1, 1, 'EUR' from opening_lot limit 1`.execute(
      books.owner,
    ),
  ).rejects.toThrow('opening_lot: the journal is no opening, or was already booked')
})
