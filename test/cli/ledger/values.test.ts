import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keepValuation } from '../../../src/store/ledger/prices.ts'
import type { Books } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'

let books: Books
const folder = temporaryFolderOfFile()
const euro = { currency: 'EUR', maxAgeMs: 24 * 3_600_000 }

beforeAll(async () => {
  books = await openExampleBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const depositd = (line: string) => runCommand(line, { DATABASE_URL: books.url })

async function give(name: string, ...lines: string[]): Promise<void> {
  const path = join(folder, name)
  await writeFile(path, ['asset,currency,at,price,source', ...lines, ''].join('\n'))
  expect(await depositd(`ledger prices import ${path}`)).toMatchObject({ status: 0, err: '' })
}

/** Long names make long lines. */
function shortened(out: string): string {
  return out.replaceAll(/0x0{30,}/g, '0x…').replaceAll(/ {2,}/g, '  ')
}

test.each(['balances', 'trial-balance', 'statement shop'])(
  'ledger %s with --currency is refused while the settings name none',
  async (report) => {
    const { status, out, err } = await depositd(`ledger ${report} --currency`)
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(err).toBe(
      'depositd: --currency: amounts are not valued; add "valuation: { currency: EUR }" with your currency to the settings, and restart the daemon\n',
    )
  },
)

test('what is owed to an owner has a value for each asset, and one total, rounded once', async () => {
  await keepValuation(books.db, euro)
  await give(
    'january.csv',
    'base/USDC,EUR,2026-01-02,0.9187,desk',
    'arbitrum/USDC,EUR,2026-01-02,0.9179,desk',
    'base/USDC,EUR,2026-01-03,0.91112,desk',
    'base/USDC,USD,2026-01-03,1.01,desk',
    'arbitrum/USDC,EUR,2026-01-03,0.91112,desk',
    'base/USDC,EUR,2026-01-04,0.5,too late',
  )
  const { status, out } = await depositd('ledger statement shop --currency --from 2026-01-03 --to 2026-01-03')
  expect(status).toBe(0)
  // 549.875 at 0.91112 is 501.00211 and 75 are 68.334, so the total is 569.33611.
  expect(shortened(out)).toMatchInlineSnapshot(`
    "AT  WHAT  JOURNAL  DEPOSIT  AMOUNT  BALANCE  SYMBOL  ASSET  ACCOUNT  EUR
    2026-01-03T00:00:00.000Z  opening  549.875000  USDC  arbitrum/0x…a1  liabilities:deposits:channel:shop  501.00
    2026-01-04T00:00:00.000Z  closing  549.875000  USDC  arbitrum/0x…a1  liabilities:deposits:channel:shop  501.00
    2026-01-03T00:00:00.000Z  opening  75.000000  USDC  base/0x…b1  liabilities:deposits:channel:shop  68.33
    2026-01-03T08:00:00.000Z  deposit  16  7  60.000000  135.000000  USDC  base/0x…b1  liabilities:deposits:channel:shop  123.00
    2026-01-03T08:00:00.000Z  reversal  17  7  -60.000000  75.000000  USDC  base/0x…b1  liabilities:deposits:channel:shop  68.33
    2026-01-04T00:00:00.000Z  closing  75.000000  USDC  base/0x…b1  liabilities:deposits:channel:shop  68.33

    valued total of each account, at the prices of 2026-01-03T23:59:59.999999Z
    ACCOUNT  EUR  LINES WITHOUT A PRICE
    liabilities:deposits:channel:shop  569.34  0
    = sum  569.34  0
    "
  `)
})

type Valued = { account: string; value: string | null }

test('documents have the price of each line with its time and source, and the totals', async () => {
  const { out } = await depositd('ledger statement shop --currency --json --to 2026-01-03 --limit 1')
  const { items, currency, valued_at, valued_totals, valued_total, missing_prices } = JSON.parse(out)
  expect(items[0]).toMatchObject({ value: '0.00', price: '0.91112', price_source: 'desk' })
  expect(items[0].price_at).toBe('2026-01-03T00:00:00.000Z')
  expect({ currency, valued_at }).toEqual({ currency: 'EUR', valued_at: '2026-01-03T23:59:59.999999Z' })
  const owed = { account: 'liabilities:deposits:channel:shop', value: '569.34', without_price: 0 }
  expect({ valued_totals, valued_total, missing_prices }).toEqual({
    valued_totals: [owed],
    valued_total: { ...owed, account: '= sum' },
    missing_prices: [],
  })
})

test('a line without a price has no value, the total counts it, and the asset is named with the fix', async () => {
  const { status, out } = await depositd('ledger balances --currency --as-of 2026-01-02')
  expect(status).toBe(0)
  expect(shortened(out)).toMatchInlineSnapshot(`
    "ACCOUNT  BALANCE  SYMBOL  ASSET  EUR
    assets:forwarded:arbitrum:0x…ff  529.345125  USDC  arbitrum/0x…a1  485.89
    assets:receivable:service  19.980000  USDC  arbitrum/0x…a1  18.34
    expenses:fees:service  0.549875  USDC  arbitrum/0x…a1  0.50
    liabilities:deposits:channel:shop  -549.875000  USDC  arbitrum/0x…a1  -504.73
    = sum  0.000000  USDC  arbitrum/0x…a1  0.00
    assets:in_transit:base  115.000000  USDC  base/0x…b1  105.65
    liabilities:deposits:channel:shop  -75.000000  USDC  base/0x…b1  -68.90
    liabilities:suspense  -40.000000  USDC  base/0x…b1  -36.75
    = sum  0.000000  USDC  base/0x…b1  0.00
    assets:stable_wallet:savings  19.980000  USDC  stable-wallet/USDC
    liabilities:deposits:stable_wallet:savings  -19.980000  USDC  stable-wallet/USDC
    = sum  0.000000  USDC  stable-wallet/USDC  0.00
    Balances of zero are left out: 7. --json lists them.
    balanced: every asset sums to zero

    valued total of each account, at the prices of 2026-01-02T23:59:59.999999Z
    ACCOUNT  EUR  LINES WITHOUT A PRICE
    assets:forwarded:arbitrum:0x…ff  485.89  0
    assets:receivable:service  18.34  0
    expenses:fees:service  0.50  0
    liabilities:deposits:channel:shop  -573.63  0
    assets:in_transit:base  105.65  0
    liabilities:suspense  -36.75  0
    assets:stable_wallet:savings  1
    liabilities:deposits:stable_wallet:savings  1
    = sum  0.00  2
    no price in EUR of USDC (stable-wallet/USDC): their lines have no value and are not part of the totals
    import one of at most 24 h before with "bin/depositd ledger prices import FILE"; the file has the line asset,currency,at,price,source and lines like stable-wallet/USDC,EUR,2026-01-02T23:59:59.999999Z,PRICE,SOURCE
    "
  `)
  const report = JSON.parse((await depositd('ledger balances --currency --json --as-of 2026-01-02')).out)
  const unpriced = (report.items as Valued[]).filter(({ value }) => value === null)
  expect(unpriced.map(({ account }) => account)).toEqual([
    'assets:stable_wallet:savings',
    'liabilities:deposits:stable_wallet:savings',
  ])
  expect(report.missing_prices).toEqual([{ asset: 'stable-wallet/USDC', asset_symbol: 'USDC' }])
  expect(report.valued_totals.at(-1)).toEqual({
    account: 'liabilities:deposits:stable_wallet:savings',
    value: null,
    without_price: 1,
  })
  expect(report.valued_total).toEqual({ account: '= sum', value: '0.00', without_price: 2 })
})

const momentOf = async (options: string) =>
  JSON.parse((await depositd(`ledger trial-balance --currency --json ${options}`)).out).valued_at as string

test('a month is valued at its end, or now if it is not over; a report without an end, now', async () => {
  expect(await momentOf('--period 2026-01')).toBe('2026-01-31T23:59:59.999999Z')
  const before = Date.now()
  for (const options of ['--limit 5', '--as-of 2999-01-01', '--period 2999-01']) {
    const at = Date.parse(await momentOf(options))
    expect(at >= before && at <= Date.now()).toBe(true)
  }
})

const values = (items: Valued[]) => items.map(({ account, value }) => `${account} ${value}`)

test('the trial balance has the values of the balances, and the same totals', async () => {
  const [trial, balances] = await Promise.all(
    ['trial-balance', 'balances'].map(async (report) =>
      JSON.parse((await depositd(`ledger ${report} --currency --json --as-of 2026-01-03`)).out),
    ),
  )
  expect(values(trial.items)).toEqual(values(balances.items))
  expect(trial.valued_totals).toEqual(balances.valued_totals)
  expect(
    trial.items.filter(({ value }: Valued) => value !== null && value !== '0.00').length,
  ).toBeGreaterThan(4)
})

test('without --currency nothing is valued', async () => {
  const report = JSON.parse((await depositd('ledger balances --json')).out)
  expect(Object.keys(report).toSorted()).toEqual(['balanced', 'items', 'next', 'totals'])
  expect(Object.keys(report.items[0])).not.toContain('value')
})
