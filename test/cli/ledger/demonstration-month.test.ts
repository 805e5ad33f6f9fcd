import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Books } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { openDemonstrationMonth } from '../../support/demonstration-month.ts'

let books: Books

beforeAll(async () => {
  books = await openDemonstrationMonth()
})
afterAll(() => books[Symbol.asyncDispose]())

type Line = { line: string; account: string; asset: string; balance_base: string; value: string }
type Gain = { proceeds: string; cost: string; gain: string }

const depositd = (line: string) => runCommand(line, { DATABASE_URL: books.url })
const centsOf = (text: string) => BigInt(text.replace('.', ''))

async function json<Document>(line: string): Promise<Document> {
  const { status, out, err } = await depositd(`${line} --json`)
  expect({ status, err }).toEqual({ status: 0, err: '' })
  return JSON.parse(out) as Document
}

async function valuedLines(): Promise<Line[]> {
  return (await json<{ items: Line[] }>('ledger trial-balance --valued --period 2026-01')).items
}

/** The column `it` of each row. */
async function rowsOf(query: string): Promise<string[]> {
  const { rows } = await sql.raw<{ it: string }>(query).execute(books.db)
  return rows.map(({ it }) => it)
}

test('the month has a journal of every kind, nothing open in trading, and is closed', async () => {
  expect(await rowsOf('select distinct kind as it from ledger_journal order by kind')).toEqual([
    'conversion',
    'deposit',
    'manual',
    'refund',
    'reversal',
    'settlement',
    'shortage',
    'withdrawal',
    'write_off',
  ])
  expect(await rowsOf(`select deposit_id::text as it from accounting.open_conversions`)).toEqual([])
  const { status, out } = await depositd('ledger close 2026-01 --break-glass erin,max --force --reason month')
  expect({ status, out }).toEqual({
    status: 0,
    out: expect.stringContaining('unrealised gains at its end: -19.95 EUR'),
  })
})

test('the valued trial balance sums to zero, with no value left in trading or at the service', async () => {
  const lines = await valuedLines()
  expect(lines.reduce((sum, { value }) => sum + centsOf(value), 0n)).toBe(0n)
  const cleared = lines.filter(({ account }) => /^trading:|^assets:receivable:/.test(account))
  expect(cleared.length).toBeGreaterThan(0)
  expect(cleared.filter(({ value }) => centsOf(value) !== 0n)).toEqual([])
})

test('what own funds gained is their proceeds less their cost, lot by lot', async () => {
  const { items, totals } = await json<{ items: Gain[]; totals: Gain[] }>(
    'ledger disposals --from 2026-01-01 --to 2026-01-31',
  )
  expect(items).toHaveLength(4)
  for (const { proceeds, cost, gain } of [...items, ...totals])
    expect(centsOf(proceeds) - centsOf(cost)).toBe(centsOf(gain))
  const [booked] = await rowsOf(`
    select (-sum(value))::text as it from accounting.valued_entries
    where account = 'income:gains:realised' and journal_id in (select journal_id from accounting.disposals)`)
  expect(totals.map(({ gain }) => gain)).toEqual([booked])
})

test.each(['shop', 'savings'])(
  'the statement of %s is the sum of its deposits and withdrawals',
  async (owner) => {
    const { items } = await json<{ items: Line[] }>(
      `ledger statement ${owner} --from 2026-01-01 --to 2026-01-31`,
    )
    const closing = items.filter(({ line }) => line === 'closing')
    const sums = await rowsOf(`
    select concat_ws(' ', asset, sum(part)) as it from (
      select e.asset, -sum(e.amount_base) as part from deposit d join accounting.entries e on e.deposit_id = d.id
      where d.owner_id = '${owner}' and e.account like 'liabilities:deposits:%' group by d.id, e.asset
      union all select asset, -amount from withdrawal where wallet = '${owner}' and state = 'paid'
    ) as parts group by asset order by asset`)
    expect(closing.map(({ asset, balance_base: balance }) => `${asset} ${balance}`).toSorted()).toEqual(sums)
  },
)
