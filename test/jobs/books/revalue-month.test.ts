import type { KyselyPlugin } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { AccountId } from '../../../src/core/chart.ts'
import { checkValues } from '../../../src/jobs/books/check-values.ts'
import { prepareRevaluation } from '../../../src/jobs/books/close-period.ts'
import type { Period } from '../../../src/ledger/period.ts'
import { keepValuation } from '../../../src/store/ledger/prices.ts'
import { type Months, openMonths } from '../../support/months.ts'
import { givePrices } from '../../support/valued-books.ts'

let months: Months
const sales = 'income:sales' as AccountId

beforeEach(async () => {
  months = await openMonths()
  onTestFinished(() => months[Symbol.asyncDispose]())
  await keepValuation(months.books.db, { currency: 'EUR', maxAgeMs: 24 * 3_600_000 })
  await months.book(months.journal('2026-01-10', 5_000_000n), months.journal('2026-01-10', 3_000_000n, sales))
  await give('2026-01-10,0.90')
})

const give = (...prices: string[]) =>
  givePrices(
    months.books,
    prices.map((price) => `base/USDC,${price}`),
  )

/** Of the books up to a month. */
async function balancesOf(month: string): Promise<string[]> {
  const rows = await months.rowsOf<{ text: string }>(`
    select concat_ws(' ', account, sum(amount), sum(value)) as text from accounting.valued_entries
    where period <= '${month}-01' group by account having sum(value) <> 0 order by account`)
  return rows.map(({ text }) => text)
}

const january = [
  'assets:in_transit:base 8.000000 7.60',
  'income:gains:unrealised -0.15',
  'income:sales -3.000000 -2.70',
  'liabilities:deposits:channel:shop -5.000000 -4.75',
]

test('a close brings assets and debts to the market of the last day, and the next month back to what they are carried at', async () => {
  await give('2026-01-31,0.95')
  expect((await months.close('2026-01')).revaluation).toEqual({ currency: 'EUR', gain: '0.15' })
  expect(await balancesOf('2026-01')).toEqual(january)
  expect(await balancesOf('2026-02')).toEqual([
    'assets:in_transit:base 8.000000 7.20',
    'income:sales -3.000000 -2.70',
    'liabilities:deposits:channel:shop -5.000000 -4.50',
  ])
  const moments = await months.rowsOf(`
    select distinct kind, event_at at time zone 'UTC' as event_at, period, price::text, price_source
    from accounting.valued_entries where kind like 'revaluation%' and asset is not null order by kind`)
  expect(moments).toMatchObject([
    { kind: 'revaluation', period: '2026-01-01', price: '0.95', price_source: 'desk' },
    { kind: 'revaluation_back', period: '2026-02-01' },
  ])
})

test('a close without a price at the end of the month is refused with the fix, and nothing is closed', async () => {
  const refusal = await months.close('2026-01').catch((error: unknown) => error)
  expect(refusal).toMatchObject({
    details: {
      problem: expect.stringMatching(/^no price in EUR of USDC \(base\/0x\w+\) at 2026-01-31T23:59:59.999Z$/),
      fix: expect.stringContaining('ledger prices import FILE'),
    },
  })
  await months.book(months.journal('2026-01-20', 1_000_000n))
  await give('2026-01-31,0.95')
  await expect(months.close('2026-01')).rejects.toThrow('at 2026-01-20T12:00:00.000Z, for journal 3')
  expect(await months.states()).toContain('2026-01 open 3 0 0')
})

test('a month that is reopened and closed again is at market again, and unrealised gains are taken back once', async () => {
  await give('2026-01-31,0.95')
  await months.close('2026-01')
  await months.reopen('2026-01')
  await months.book(months.journal('2026-01-10', 2_000_000n, sales))
  expect((await months.close('2026-01')).revaluation).toEqual({ currency: 'EUR', gain: '0.10' })
  expect(await balancesOf('2026-01')).toEqual([
    'assets:in_transit:base 10.000000 9.50',
    'income:gains:unrealised -0.25',
    'income:sales -5.000000 -4.50',
    'liabilities:deposits:channel:shop -5.000000 -4.75',
  ])
  expect(await balancesOf('2026-02')).toContain('assets:in_transit:base 10.000000 9.00')
  expect((await balancesOf('2026-02')).join()).not.toContain('unrealised')
  await give('2026-02-28,0.97')
  await months.close('2026-02')
  expect((await checkValues.run(months.closer, () => undefined)).findings).toEqual([])
})

test('a journal that comes while the month is prepared is valued by the close, and no refusal names nothing', async () => {
  await give('2026-01-31,0.95')
  const { db } = months.books
  const late = () => months.book(months.journal('2026-01-10', 2_000_000n, sales))
  const values = await prepareRevaluation(db.withPlugin(onceCut(late)), '2026-01' as Period)
  expect(values?.sums).toContainEqual(
    expect.objectContaining({ account: 'assets:in_transit:base', units: 8_000_000n }),
  )
  expect((await months.close('2026-01')).revaluation).toEqual({ currency: 'EUR', gain: '0.25' })
})

/** Does something right after the books are cut. */
function onceCut(work: () => Promise<void>): KyselyPlugin {
  return {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (result.rows.some((row) => 'at' in row && 'lastJournal' in row)) await work()
      return result
    },
  }
}

test('without a currency nothing is revalued', async () => {
  await keepValuation(months.books.db, null)
  expect((await months.close('2026-01')).revaluation).toBeNull()
  expect(await months.rowsOf('select * from accounting.valued_entries')).toEqual([])
})
