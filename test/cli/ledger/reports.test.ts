import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import type { Books } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { shortest } from '../../support/plain-text-accounting.ts'

let books: Books

beforeAll(async () => {
  books = await openExampleBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const depositd = (line: string) => runCommand(line, { DATABASE_URL: books.url })

/** Long names make long lines. */
function shortened(out: string): string {
  return out
    .replaceAll(/0x0{30,}/g, '0x…')
    .replaceAll(/ {2,}/g, '  ')
    .replaceAll(/ +$/gm, '')
}

test('ledger trial-balance: debits, credits and their difference, and of each asset their sums', async () => {
  const { status, out } = await depositd('ledger trial-balance --as-of 2026-01-01')
  expect(status).toBe(0)
  expect(shortened(out)).toMatchInlineSnapshot(`
    "ACCOUNT  CODE  DEBIT  CREDIT  BALANCE  SYMBOL  ASSET
    assets:forwarded:arbitrum:0x…ff  349.525125  0.000000  349.525125  USDC  arbitrum/0x…a1
    expenses:fees:service  0.349875  0.000000  0.349875  USDC  arbitrum/0x…a1
    liabilities:deposits:channel:shop  0.000000  349.875000  -349.875000  USDC  arbitrum/0x…a1
    trading:arbitrum/0x…a1  349.875000  349.875000  0.000000  USDC  arbitrum/0x…a1
    = sum  699.750000  699.750000  0.000000  USDC  arbitrum/0x…a1
    assets:in_transit:base  100.000000  100.000000  0.000000  USDC  base/0x…b1
    liabilities:deposits:channel:shop  100.000000  100.000000  0.000000  USDC  base/0x…b1
    trading:base/0x…b1  100.000000  100.000000  0.000000  USDC  base/0x…b1
    = sum  300.000000  300.000000  0.000000  USDC  base/0x…b1
    assets:in_transit:base  250.000000  250.000000  0.000000  USDT  base/0x…b2
    liabilities:deposits:channel:shop  250.000000  250.000000  0.000000  USDT  base/0x…b2
    trading:base/0x…b2  250.000000  250.000000  0.000000  USDT  base/0x…b2
    = sum  750.000000  750.000000  0.000000  USDT  base/0x…b2
    balanced: debits equal credits for every asset
    "
  `)
})

const linesAsOf = async (asOf: string) => {
  const { out } = await depositd(`ledger trial-balance --json --as-of ${asOf}`)
  return (JSON.parse(out) as { items: object[] }).items.length
}

test('ledger trial-balance as of a time holds what happened at that very time', async () => {
  expect(await linesAsOf('2026-01-01T09:59:59.999999Z')).toBe(0)
  expect(await linesAsOf('2026-01-01T10:00:00Z')).toBe(2)
})

type Report = { items: Line[]; next: string | null; totals: Line[]; balanced: boolean }
type Line = {
  account: string
  code: string | null
  asset: string
  debit: string
  credit: string
  balance: string
}

test('ledger trial-balance of all is what the entries of the books add up to', async () => {
  const { rows } = await sql<Line>`
    select account, asset, coalesce(sum(amount) filter (where amount > 0), 0)::text as debit,
      coalesce(-sum(amount) filter (where amount < 0), 0)::text as credit, sum(amount)::text as balance
    from accounting.entries group by account, asset order by asset, account`.execute(books.db)
  const report = JSON.parse((await depositd('ledger trial-balance --json')).out) as Report
  const numbers = ({ account, asset, debit, credit, balance }: Line) =>
    [account, asset, shortest(debit), shortest(credit), shortest(balance)].join(' ')
  expect(report.items.map(numbers).toSorted()).toEqual(rows.map(numbers).toSorted())
  expect(report.balanced).toBe(true)
  for (const { debit, credit } of report.totals) expect(debit).toBe(credit)
})

test('ledger balances as of a day are those of the trial balance of that day', async () => {
  const { status, out } = await depositd('ledger balances --as-of 2026-01-02 --json')
  expect(status).toBe(0)
  const { items: balances } = JSON.parse(out) as { items: Line[] }
  const report = JSON.parse((await depositd('ledger trial-balance --as-of 2026-01-02 --json')).out) as Report
  expect(balances.map(({ account, balance }) => [account, balance])).toEqual(
    report.items.map(({ account, balance }) => [account, balance]),
  )
  expect(balances.length).toBeGreaterThan(5)
})

test('ledger trial-balance tells the code that the settings give an account', async () => {
  const owner = openDatabase<Tables>({ url: books.url, poolMax: 1, applicationName: 'test owner' })
  await sql`insert into account_label (place, pattern, code) values (0, 'liabilities:deposits:channel:*', '2100')`.execute(
    owner,
  )
  const { out } = await depositd('ledger trial-balance --json')
  await sql`delete from account_label`.execute(owner)
  await owner.destroy()
  const codes = (JSON.parse(out) as Report).items.map(({ account, code }) => `${account} ${code}`)
  expect(codes).toContain('liabilities:deposits:channel:shop 2100')
  expect(codes).toContain('expenses:fees:service null')
})

test('what was recorded later is not in what was known before', async () => {
  const before = '--recorded-as-of 2020-01-01'
  expect((await depositd(`ledger balances ${before}`)).out).toBe('nothing is booked yet\n')
  expect((await depositd(`ledger trial-balance ${before}`)).out).toBe('nothing was booked by then\n')
})

test('with --limit, lines are left out, and the sums are not', async () => {
  const all = JSON.parse((await depositd('ledger trial-balance --json')).out) as Report
  const some = JSON.parse((await depositd('ledger trial-balance --limit 3 --json')).out) as Report
  expect(some).toMatchObject({ items: all.items.slice(0, 3), totals: all.totals })
  const rest = JSON.parse((await depositd(`ledger trial-balance --json --after ${some.next}`)).out) as Report
  expect(rest).toMatchObject({ items: all.items.slice(3), next: null })
  for (const report of ['balances', 'trial-balance']) {
    const { out } = await depositd(`ledger ${report} --limit 3`)
    expect(out).toContain(`Showing 3; more follow: bin/depositd ledger ${report} --limit 3 --after `)
  }
})

test('ledger statement: what was owed, what changed it, and what is owed', async () => {
  const { status, out } = await depositd('ledger statement shop --from 2026-01-02 --to 2026-01-03')
  expect(status).toBe(0)
  expect(shortened(out)).toMatchInlineSnapshot(`
    "AT  WHAT  JOURNAL  DEPOSIT  AMOUNT  BALANCE  SYMBOL  ASSET  ACCOUNT
    2026-01-02T00:00:00.000Z  opening  349.875000  USDC  arbitrum/0x…a1  liabilities:deposits:channel:shop
    2026-01-02T09:03:00.000Z  conversion  9  3  200.000000  549.875000  USDC  arbitrum/0x…a1  liabilities:deposits:channel:shop
    2026-01-04T00:00:00.000Z  closing  549.875000  USDC  arbitrum/0x…a1  liabilities:deposits:channel:shop
    2026-01-02T00:00:00.000Z  opening  0.000000  USDC  base/0x…b1  liabilities:deposits:channel:shop
    2026-01-02T09:00:00.000Z  deposit  7  3  200.000000  200.000000  USDC  base/0x…b1  liabilities:deposits:channel:shop
    2026-01-02T09:03:00.000Z  conversion  9  3  -200.000000  0.000000  USDC  base/0x…b1  liabilities:deposits:channel:shop
    2026-01-02T15:00:00.000Z  deposit  14  5  75.000000  75.000000  USDC  base/0x…b1  liabilities:deposits:channel:shop
    2026-01-03T08:00:00.000Z  deposit  16  7  60.000000  135.000000  USDC  base/0x…b1  liabilities:deposits:channel:shop
    2026-01-03T08:00:00.000Z  reversal  17  7  -60.000000  75.000000  USDC  base/0x…b1  liabilities:deposits:channel:shop
    2026-01-04T00:00:00.000Z  closing  75.000000  USDC  base/0x…b1  liabilities:deposits:channel:shop
    "
  `)
})

const ends = async (line: string, span: string) => {
  const { out } = await depositd(`ledger statement channel:shop --json ${span}`)
  const { items } = JSON.parse(out) as { items: { line: string; asset: string; balance: string }[] }
  return items.filter((one) => one.line === line).map(({ asset, balance }) => `${asset} ${balance}`)
}

/** What closes with nothing and has no entry is no part of the next statement. */
const isLeft = (line: string) => !line.endsWith(' 0.000000')

test('the closing of one statement is the opening of the next', async () => {
  const closing = (await ends('closing', '--to 2026-01-02')).filter(isLeft)
  expect(closing).toHaveLength(2)
  expect(await ends('opening', '--from 2026-01-03 --to 2026-01-03')).toEqual(closing)
  expect((await ends('closing', '--to 2026-01-03T00:00:00Z')).filter(isLeft)).toEqual(closing)
})

test('a statement of an owner of whom nothing was booked is not found', async () => {
  expect(await depositd('ledger statement nobody')).toMatchObject({
    status: 3,
    err: expect.stringMatching(/^depositd: account or owner "nobody" not found; give the id of a channel/),
  })
})

test('the pages of a statement are together the whole of it', async () => {
  const whole = JSON.parse((await depositd('ledger statement shop --json --to 2027-01-01')).out)
  const lines: object[] = []
  for (let next: string | null = ''; next !== null; ) {
    const more = next === '' ? '' : ` --after ${next}`
    const { out } = await depositd(`ledger statement shop --json --to 2027-01-01 --limit 2${more}`)
    const page = JSON.parse(out) as { items: object[]; next: string | null }
    lines.push(...page.items)
    next = page.next
  }
  expect(lines).toEqual(whole.items)
})

test('ledger statement of an account that debits make more has debits positive', async () => {
  const { out } = await depositd('ledger statement assets:stable_wallet:savings')
  expect(out).toMatch(/ settlement +\d+ +4 +19\.980000 +19\.980000 +USDC /)
})

test('documents of statements and trial balances tell amounts in units and in smallest units, as SQL does', async () => {
  const span = '--from 2026-01-02 --to 2026-01-02'
  const statement = JSON.parse((await depositd(`ledger statement savings --json ${span}`)).out)
  expect(statement.items[1]).toMatchObject({
    amount: '20.000000',
    amount_base: '20000000',
    balance: '20.000000',
    balance_base: '20000000',
  })
  const trial = JSON.parse((await depositd('ledger trial-balance --json')).out)
  const account = 'liabilities:deposits:stable_wallet:savings'
  const line = trial.items.find((one: Line) => one.account === account)
  const held = { balance: '0.000000', balance_base: '0' }
  const sides = { debit: '20.000000', debit_base: '20000000', credit: '20.000000', credit_base: '20000000' }
  expect(line).toMatchObject({ ...sides, ...held })
  expect(trial.totals[0]).toMatchObject({ balance: '0.000000', balance_base: '0' })
  for (const options of ['', ' --as-of 2027-01-01']) {
    const { items: balances, totals } = JSON.parse((await depositd(`ledger balances --json${options}`)).out)
    expect(balances.find((one: Line) => one.account === account)).toMatchObject(held)
    expect(totals[0]).toMatchObject({ total: '0.000000', total_base: '0' })
  }
})

test.each([
  [
    'ledger trial-balance --period 2026-01 --as-of 2026-01-31',
    "error: option '--period <month>' cannot be used with option '--as-of <time>'",
  ],
  ['ledger trial-balance --period 2026-13', '--period is "2026-13"; give a month like 2026-01'],
  ['ledger statement shop --from 2026-01-02 --to 2026-01-01', 'the end is before --from; '],
  ['ledger balances --as-of 2026-13-01', '--as-of is "2026-13-01"; give a day or a time, '],
  ['ledger trial-balance --recorded-as-of soon', '--recorded-as-of is "soon"; give a day or a time, '],
])('%s is refused in one line', async (line, message) => {
  const { status, out, err } = await depositd(line)
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toContain(message)
  expect(err.trimEnd().split('\n')).toHaveLength(1)
})
