import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Books } from '../../support/books.ts'
import { openExampleBooks } from '../../support/example-books.ts'

let books: Books

beforeAll(async () => {
  books = await openExampleBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

type Line = { line: string; kind: string | null; asset: string; amount: string | null; balance: string }

async function statement(
  owner: string,
  from: string,
  ...[to, entriesMax]: [string, number?]
): Promise<Line[]> {
  const { rows } = await sql<Line>`
    select line, kind, asset_symbol as asset, amount::text as amount, balance::text as balance
    from accounting.statement(${owner}, ${from}, ${to}, ${entriesMax ?? null})`.execute(books.db)
  return rows
}

test('a statement opens with what there was, lists what happened, closes with what there is then, and leaves out what is nothing', async () => {
  const [arbitrum, base] = [{ asset: 'USDC' }, { asset: 'USDC' }]
  expect(await statement('shop', '2026-01-02', '2026-01-03')).toEqual([
    { line: 'opening', kind: null, ...arbitrum, amount: null, balance: '349.875000' },
    { line: 'entry', kind: 'conversion', ...arbitrum, amount: '200.000000', balance: '549.875000' },
    { line: 'closing', kind: null, ...arbitrum, amount: null, balance: '549.875000' },
    { line: 'opening', kind: null, ...base, amount: null, balance: '0.000000' },
    { line: 'entry', kind: 'deposit', ...base, amount: '200.000000', balance: '200.000000' },
    { line: 'entry', kind: 'conversion', ...base, amount: '-200.000000', balance: '0.000000' },
    { line: 'entry', kind: 'deposit', ...base, amount: '75.000000', balance: '75.000000' },
    { line: 'closing', kind: null, ...base, amount: null, balance: '75.000000' },
  ])
})

test('a statement with fewer entries has the oldest of each account, and closes as the whole one does', async () => {
  expect(await statement('shop', '2026-01-02', '2026-01-04', 1)).toMatchObject([
    { line: 'opening', balance: '349.875000' },
    { line: 'entry', balance: '549.875000' },
    { line: 'closing', balance: '549.875000' },
    { line: 'opening', balance: '0.000000' },
    { line: 'entry', amount: '200.000000', balance: '200.000000' },
    { line: 'closing', balance: '75.000000' },
  ])
})

test('what was taken back stands in a statement together with what took it back', async () => {
  const lines = await statement('shop', '2026-01-03', '2026-01-04')
  expect(lines.slice(2)).toMatchObject([
    { line: 'opening', balance: '75.000000' },
    { kind: 'deposit', amount: '60.000000', balance: '135.000000' },
    { kind: 'reversal', amount: '-60.000000', balance: '75.000000' },
    { line: 'closing', balance: '75.000000' },
  ])
})

test('statements of spans that follow each other fit: one closes as the next one opens', async () => {
  const times = ['2025-12-31', '2026-01-01', '2026-01-01T10:00:00Z', '2026-01-02T12:00:00Z', '2026-02-01']
  let before: string[] | null = null
  for (const [place, from] of times.slice(0, -1).entries()) {
    const lines = await statement('shop', from, times[place + 1] ?? '')
    const of = (line: string) =>
      lines
        .filter((one) => one.line === line && Number(one.balance) !== 0)
        .map(({ balance }) => Number(balance).toFixed(6))
    if (before !== null) expect(of('opening')).toEqual(before)
    before = of('closing')
  }
  expect(before).toEqual(['549.875000', '75.000000'])
})

test.each([
  ['an owner with its kind', 'channel:shop', 3],
  ['a StableWallet', 'savings', 2],
  ['an account', 'liabilities:suspense', 1],
  ['the id of another kind', 'stable_wallet:shop', 0],
  ['a part of an id', 'hop', 0],
  ['nobody', 'nobody', 0],
])('a statement may be of %s', async (_what, owner, accounts) => {
  const lines = await statement(owner, '2026-01-01', '2026-02-01')
  expect(lines.filter(({ line }) => line === 'closing')).toHaveLength(accounts)
})

test.each([
  ['assets:in_transit:base', 'asset', ['0.000000', '100.000000', '0.000000', '0.000000']],
  ['expenses:fees:service', 'expense', ['0', '0.100000', '0.100000']],
  ['liabilities:deposits:channel:shop', 'liability', ['0.000000', '100.000000', '0.000000', '0.000000']],
])('%s: what makes an account of that class more is positive', async (account, _class, balances) => {
  const { rows } = await sql<Line & { network: string }>`
    select split_part(asset, '/', 1) as network, line, asset_symbol as asset, balance::text as balance
    from accounting.statement(${account}, '2026-01-01', '2026-01-01T10:30:00Z')`.execute(books.db)
  const network = account.startsWith('expenses') ? 'arbitrum' : 'base'
  const usdc = rows.filter((row) => row.network === network && row.asset === 'USDC')
  expect(usdc.map(({ balance }) => Number(balance))).toEqual(balances.map(Number))
})

test('a statement of an account closes with its balance, negative where that is on the other side', async () => {
  const { rows } = await sql<{ account: string; isAlike: boolean }>`
    select a.account, s.balance_base = case a.normal when 'debit' then b.balance_base else -b.balance_base end as "isAlike"
    from accounting.accounts a join accounting.balances b using (account)
      join lateral accounting.statement(a.account, '2026-01-01', '2027-01-01') s on s.asset = b.asset and s.line = 'closing'`.execute(
    books.db,
  )
  expect(rows.length).toBeGreaterThan(8)
  expect(rows.filter(({ isAlike }) => !isAlike)).toEqual([])
})
