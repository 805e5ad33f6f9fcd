import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runCommand } from '../../support/command.ts'
import { type Months, openMonths } from '../../support/months.ts'

let months: Months

/** A payment of January, and one of February; then January is closed, and another payment of it comes late. */
beforeEach(async () => {
  months = await openMonths()
  await months.book(months.journal('2026-01-31', 75n), months.journal('2026-02-01', 8n))
  await months.close('2026-01')
  await months.book(months.journal('2026-01-20', 30n))
})
afterEach(() => months[Symbol.asyncDispose]())

type Line = { account: string; debit: string; credit: string }

const linesOf = (from: string) =>
  months.rowsOf<Line>(
    `select account, debit_base::text as debit, credit_base::text as credit from ${from} order by 1`,
  )

const owedOf = async (from: string) =>
  (await linesOf(from)).find(({ account }) => account.startsWith('liabilities:'))?.credit

test('the trial balance of a closed month is the one that was frozen, whatever comes late', async () => {
  const frozen = await linesOf(`accounting.period_balances where period = '2026-01-01' and stands`)
  expect(frozen).toHaveLength(2)
  expect(await linesOf(`accounting.trial_balance_of('2026-01-01')`)).toEqual(frozen)
  expect(await linesOf(`accounting.trial_balance_of('2026-01-31')`)).toEqual(frozen)
  expect(await owedOf(`accounting.trial_balance('2026-01-31T23:59:59.999999Z')`)).toBe('105')
})

test('what came late is in the trial balance of the month in whose books it stands', async () => {
  expect(await owedOf(`accounting.trial_balance_of('2026-01-01')`)).toBe('75')
  expect(await owedOf(`accounting.trial_balance_of('2026-02-01')`)).toBe('113')
  expect(await linesOf(`accounting.trial_balance_of('2025-12-01')`)).toEqual([])
  expect(await linesOf(`accounting.trial_balance_of('2026-02-01', '2020-01-01')`)).toEqual([])
})

test('the trial balance of each month is what entries of the books up to it add up to', async () => {
  await months.close('2026-02')
  await months.book(months.journal('2026-02-10', 4n), months.journal('2026-01-02', 2n))
  for (const month of ['2026-01-01', '2026-02-01', '2026-03-01'])
    expect(await linesOf(`accounting.trial_balance_of('${month}')`)).toEqual(
      await months.rowsOf(
        `select account, coalesce(sum(amount_base) filter (where amount_base > 0), 0)::text as debit,
          coalesce(-sum(amount_base) filter (where amount_base < 0), 0)::text as credit
        from accounting.entries where period <= '${month}' group by 1 order by 1`,
      ),
    )
})

test('ledger trial-balance and balances --period print the books of that month', async () => {
  const { url } = months.books
  const read = async (line: string) => JSON.parse((await runCommand(line, { DATABASE_URL: url })).out)
  const month = await read('ledger trial-balance --period 2026-01 --json')
  expect(month).toMatchObject({ period: '2026-01', as_of: null, balanced: true })
  const credits = month.items.map(({ credit_base: credit }: { credit_base: string }) => credit)
  expect(credits).toEqual(['0', '75'])
  const { items: balances } = await read('ledger balances --period 2026-01 --json')
  expect(balances.map(({ balance_base: balance }: { balance_base: string }) => balance)).toEqual([
    '75',
    '-75',
  ])
  const happened = await read('ledger trial-balance --as-of 2026-01-31 --json')
  expect(happened.items[1]).toMatchObject({ credit_base: '105' })
})

test('what came late is found by an index', async () => {
  const plan = await months.owner.transaction().execute(async (tx) => {
    // A few journals are scanned faster than looked up.
    await sql`set local enable_seqscan = off`.execute(tx)
    const { rows } = await sql<Record<'QUERY PLAN', string>>`
      explain (costs off) select from ledger_journal j
      where j.period > '2026-01-01' and j.period <> ledger_month(j.event_at)`.execute(tx)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  })
  expect(plan).toContain('ledger_journal_late')
})
