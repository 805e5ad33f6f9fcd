import { afterAll, beforeAll, expect, test } from 'vitest'
import { keepValuation } from '../../../src/store/ledger/prices.ts'
import type { Books } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { bookOwn, drawings, journalOf, treasury } from '../../support/own-funds.ts'
import { givePrices } from '../../support/valued-books.ts'

let books: Books

beforeAll(async () => {
  books = await openExampleBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const depositd = (line: string) => runCommand(line, { DATABASE_URL: books.url })
const shortened = (out: string) => out.replaceAll(/0x0{30,}/g, '0x…').replaceAll(/ {2,}/g, '  ')

test.each(['value', 'trial-balance --valued'])('ledger %s is refused without a currency', async (line) => {
  const { status, err } = await depositd(`ledger ${line}`)
  expect(status).toBe(2)
  expect(err).toContain('amounts are not valued; add "valuation: { currency: EUR }"')
})

test('what lacks a price is named with the fix, and is bad news; the rest is valued', async () => {
  await keepValuation(books.db, { currency: 'EUR', maxAgeMs: 24 * 3_600_000, own: ['assets:forwarded:*'] })
  await givePrices(books, ['base/USDC,2026-01-01,0.92', 'arbitrum/USDC,2026-01-01,0.92'])
  const { status, out } = await depositd('ledger value')
  expect(status).toBe(1)
  expect(shortened(out.split('\n').slice(0, 2).join('\n'))).toMatchInlineSnapshot(`
    "3 journals valued in EUR; the last valued one is 3
    no price in EUR of USDT (base/0x…b2) at 2026-01-01T11:00:00.000Z, for journal 4"
  `)
  expect((await depositd('ledger trial-balance --valued')).out).toContain(
    '14 journals are not valued yet: run',
  )
})

test('the trial balance in the currency sums to zero, and disposals have their dates, costs and gains', async () => {
  await bookOwn(books, journalOf({ name: 'sold', from: treasury, to: drawings, amount: 100_000_000n }))
  const days = ['2026-01-01,0.92', '2026-01-02,0.93', '2026-01-03,0.91112']
  const assets = ['base/USDC', 'base/USDT', 'arbitrum/USDC', 'stable-wallet/USDC']
  await givePrices(
    books,
    assets.flatMap((asset) => days.map((price) => `${asset},${price}`)),
  )
  expect(await depositd('ledger value')).toMatchObject({
    status: 0,
    out: expect.stringContaining('all journals'),
  })
  const { status, out } = await depositd('ledger trial-balance --valued --period 2026-01')
  expect(status).toBe(0)
  expect(shortened(out)).toMatchInlineSnapshot(`
    "ACCOUNT  CODE  EUR  BALANCE  SYMBOL  ASSET
    assets:forwarded:arbitrum:0x…ff  396.80  429.345125  USDC  arbitrum/0x…a1
    assets:in_transit:base  106.95  115.000000  USDC  base/0x…b1
    assets:receivable:service  18.58  19.980000  USDC  arbitrum/0x…a1
    assets:stable_wallet:savings  18.58  19.980000  USDC  stable-wallet/USDC
    equity:drawings  91.11  100.000000  USDC  arbitrum/0x…a1
    expenses:fees:service  0.51  0.549875  USDC  arbitrum/0x…a1
    expenses:rounding  -0.01
    income:gains:realised  0.89
    liabilities:deposits:channel:shop  -507.88  -549.875000  USDC  arbitrum/0x…a1
    liabilities:deposits:channel:shop  -69.75  -75.000000  USDC  base/0x…b1
    liabilities:deposits:stable_wallet:savings  -18.58  -19.980000  USDC  stable-wallet/USDC
    liabilities:suspense  -37.20  -40.000000  USDC  base/0x…b1
    balanced: the values sum to zero
    "
  `)
  const document = JSON.parse((await depositd('ledger trial-balance --valued --json --limit 2')).out)
  expect(document).toMatchObject({ currency: 'EUR', value: '0.00', balanced: true, unvalued: '0' })
  expect(shortened((await depositd('ledger disposals')).out)).toMatchInlineSnapshot(`
    "ACQUIRED AT  DISPOSED AT  AMOUNT  SYMBOL  PROCEEDS  COST  GAIN  CURRENCY  JOURNAL  ACCOUNT  ASSET
    2026-01-01T10:03:00.000Z  2026-01-03T12:00:00.000Z  99.900000  USDC  91.02  91.91  -0.89  EUR  18  assets:forwarded:arbitrum:0x…ff  arbitrum/0x…a1
    2026-01-01T11:03:00.000Z  2026-01-03T12:00:00.000Z  0.100000  USDC  0.09  0.09  0.00  EUR  18  assets:forwarded:arbitrum:0x…ff  arbitrum/0x…a1

    TOTAL OF  AMOUNT  SYMBOL  PROCEEDS  COST  GAIN  CURRENCY
    arbitrum/0x…a1  100.000000  USDC  91.11  92.00  -0.89  EUR
    "
  `)
  const [page] = [JSON.parse((await depositd('ledger disposals --json --limit 1')).out)]
  expect(page.items).toHaveLength(1)
  const rest = JSON.parse((await depositd(`ledger disposals --json --after ${page.next}`)).out)
  expect(rest.items).toMatchObject([{ amount: '0.100000' }])
  expect((await depositd('ledger disposals --to 2026-01-02')).out).toBe('no own funds were given away\n')
  expect(shortened((await depositd('ledger disposals --csv')).out)).toMatchInlineSnapshot(`
    "acquired_at,disposed_at,amount,symbol,proceeds,cost,gain,currency,journal,account,asset
    2026-01-01T10:03:00.000Z,2026-01-03T12:00:00.000Z,99.900000,USDC,91.02,91.91,-0.89,EUR,18,assets:forwarded:arbitrum:0x…ff,arbitrum/0x…a1
    2026-01-01T11:03:00.000Z,2026-01-03T12:00:00.000Z,0.100000,USDC,0.09,0.09,0.00,EUR,18,assets:forwarded:arbitrum:0x…ff,arbitrum/0x…a1
    "
  `)
})
