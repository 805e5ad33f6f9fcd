import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keepAccountLabels } from '../../../src/store/ledger/accounts.ts'
import { keepValuation } from '../../../src/store/ledger/prices.ts'
import type { Books } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { usdcOnArbitrum, usdtOnBase } from '../../support/evidence.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { givePrices } from '../../support/valued-books.ts'

let books: Books

beforeAll(async () => {
  books = await openExampleBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const depositd = (line: string) => runCommand(line, { DATABASE_URL: books.url })

test.each([
  ['--format xls', '--format is "xls"; use csv, jsonl, hledger, beancount, xero, quickbooks'],
  [
    '--format csv --account assets:bank',
    '--account: no account "assets:bank"; use one from "bin/depositd ledger balances", or a prefix up to a colon',
  ],
  ['--format csv --account assets:in_tran', '--account: no account "assets:in_tran"; '],
  ['--format csv --owner nobody', '--owner: no channel or wallet "nobody"; '],
  ['--format csv --from 2026-02-30', '--from is "2026-02-30"; give a day or a time, '],
  ['--format csv --to yesterday', '--to is "yesterday"; give a day or a time, '],
  ['--format csv --recorded-as-of 2026-01-01T00:00:00.0000001Z', '--recorded-as-of is '],
  ['--format csv --from 2026-01-02 --to 2026-01-01', 'the end is before --from; '],
  [
    '--format csv --to 2026-01-02 --as-of 2026-01-02',
    "error: option '--as-of <time>' cannot be used with option '--to <time>'",
  ],
  ['--format csv --period 2026-13', '--period is "2026-13"; give a month like 2026-01'],
])('%s is refused in one line', async (options, message) => {
  const folder = join(await temporaryFolder(), 'export')
  const { status, out, err } = await depositd(`ledger export ${options} --out ${folder}`)
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toContain(message)
  expect(err.trimEnd().split('\n')).toHaveLength(1)
})

test('a folder that has an export, or anything else, is left alone', async () => {
  const folder = join(await temporaryFolder(), 'export')
  expect(await depositd(`ledger export --format csv --out ${folder}`)).toMatchObject({ status: 0 })
  const again = await depositd(`ledger export --format csv --out ${folder}`)
  expect(again).toMatchObject({
    status: 2,
    err: expect.stringContaining('--out already contains a complete export'),
  })
  expect(readdirSync(folder).toSorted()).toEqual(['entries.csv', 'manifest.json'])
  const other = await temporaryFolder()
  writeFileSync(join(other, 'letter.txt'), 'dear')
  expect(await depositd(`ledger export --format csv --out ${other}`)).toMatchObject({
    status: 2,
    err: expect.stringContaining('--out is not empty'),
  })
  const file = join(other, 'letter.txt')
  expect(await depositd(`ledger export --format csv --out ${file}`)).toMatchObject({
    status: 2,
    err: expect.stringContaining('--out cannot be written'),
  })
})

const exportTo = async (format: string) => {
  const folder = join(await temporaryFolder(), 'export')
  const { status, out, err } = await depositd(
    `ledger export --format ${format} --to 2026-01-01 --out ${folder}`,
  )
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(existsSync(folder)).toBe(false)
  return err
}

test('an export in a currency is refused before a file is written, with all that it lacks', async () => {
  for (const format of ['xero', 'quickbooks'])
    expect(await exportTo(format)).toBe(
      `depositd: --format ${format}: amounts are not valued; add "valuation: { currency: EUR }" with your currency to the settings, and restart the daemon\n`,
    )
  await keepValuation(books.db, { currency: 'EUR', maxAgeMs: 24 * 3_600_000 })
  await givePrices(books, ['base/USDC,2026-01-01,0.92', 'base/USDT,2026-01-02,0.92'])
  const lacking = await exportTo('quickbooks')
  expect(lacking).toContain(
    `no price in EUR of USDC (${usdcOnArbitrum}) at 2026-01-01T10:03:00.000Z, for journal 2; `,
  )
  expect(lacking).toContain(
    `no price in EUR of USDT (${usdtOnBase}) at 2026-01-01T11:00:00.000Z, for journal 4; `,
  )
  expect(lacking).toMatch(
    /; import them, no older than valuation.maxAge, with "bin\/depositd ledger prices import FILE"/,
  )
  await givePrices(books, ['arbitrum/USDC,2026-01-01,0.92', 'base/USDT,2026-01-01,0.92'])
  await keepAccountLabels(books.db, [
    { pattern: 'assets:*', code: '1000', name: null },
    { pattern: 'expenses:rounding', code: '6900', name: null },
  ])
  const some = await exportTo('xero')
  const named = /no code of the account: (.*); add codes to the setting accounts.labels and restart/.exec(
    some,
  )?.[1]
  expect(named?.split(', ').toSorted()).toEqual([
    'expenses:fees:service',
    'income:gains:realised',
    'liabilities:deposits:channel:shop',
  ])
  const folder = join(await temporaryFolder(), 'export')
  expect(await depositd(`ledger export --format quickbooks --to 2026-01-01 --out ${folder}`)).toMatchObject({
    status: 0,
  })
})
