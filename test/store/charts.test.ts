import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCharts } from '../../src/store/charts.ts'
import type { Books } from '../support/books.ts'
import { at, usdcOnBase } from '../support/evidence.ts'
import { openExampleBooks } from '../support/example-books.ts'

const [hour, day] = [60, 24 * 60]
const now = at(day + 16 * hour + 30)
/** The start of the first hour, which is hour 17 of the day before. */
const from = at(17 * hour)

let books: Books

beforeAll(async () => {
  books = await openExampleBooks()
  await sql`update mismatch set opened_at = ${now} where cleared_at is null`.execute(books.owner)
})
afterAll(() => books[Symbol.asyncDispose]())

test('deposits of the last 24 hours are counted by the hour of their payment', async () => {
  const charts = await readCharts(books.db, now)
  expect(charts.from).toEqual(from)
  expect(charts.deposits.toSorted((one, other) => one.hour - other.hour)).toEqual([
    { hour: 16, state: 'settled', count: 1 },
    { hour: 19, state: 'reconciled', count: 1 },
    { hour: 22, state: 'confirmed', count: 1 },
    { hour: 23, state: 'confirmed', count: 1 },
  ])
})

test('the time to settle is counted in the hour of the delivery, however old the payment is', async () => {
  const { settling } = await readCharts(books.db, now)
  expect(settling.map((one) => [one.hour, one.count])).toEqual([
    [16, 1],
    [19, 1],
  ])
  await sql`update deposit set final_at = settled_at - interval '2 days' where service_id = 'dep_3'`.execute(
    books.owner,
  )
  const [late] = (await readCharts(books.db, now)).settling
  expect(late).toEqual({ hour: 16, count: 1, p50: 172_800, p95: 172_800 })
})

test('a mismatch counts in the hour in which it was opened, and in that of its first end', async () => {
  await sql`
    insert into mismatch (subject, kind, severity, opened_at, cleared_at, cleared_how, resolved_at, resolved_by, resolved_reason)
    values ('inbox/1', 'schema_drift', 'info', ${at(20 * hour)}, ${at(22 * hour)}, 'evidence', ${at(21 * hour)}, 'erin', 'known'),
      ('inbox/2', 'schema_drift', 'info', ${at(16 * hour)}, ${at(22 * hour)}, 'evidence', null, null, null)`.execute(
    books.owner,
  )
  const { mismatches } = await readCharts(books.db, now)
  expect(mismatches.slice(0, 3)).toEqual([
    { hour: 3, opened: 1, closed: 0 },
    { hour: 4, opened: 0, closed: 1 },
    { hour: 5, opened: 0, closed: 1 },
  ])
})

test('the value in transit is that of the books at the end of each hour', async () => {
  const { transit } = await readCharts(books.db, now)
  expect(transit.length).toBeGreaterThanOrEqual(24)
  for (const one of transit) {
    const end = new Date(from.getTime() + (one.hour + 1) * 3_600_000 - 1)
    const { rows } = await sql<{ amount: string }>`
      select coalesce(sum(amount_base), 0)::text as amount from accounting.in_transit_at(${end}) where asset = ${one.asset}`.execute(
      books.db,
    )
    expect([one.asset, one.hour, one.amount]).toEqual([one.asset, one.hour, BigInt(rows[0]?.amount ?? 0)])
  }
  expect(transit.at(-1)).toMatchObject({ asset: usdcOnBase, symbol: 'USDC', amount: 115_000_000n })
})

test('the loss of each asset is that of its open mismatches, by age', async () => {
  await sql`update mismatch set opened_at = ${at(0)} where kind = 'settlement_missing'`.execute(books.owner)
  const { losses } = await readCharts(books.db, now)
  const { rows } = await sql<{ asset: string; amount: string }>`
    select asset, sum(amount_base)::text as amount from accounting.value_at_risk group by asset order by asset`.execute(
    books.db,
  )
  const sums = Map.groupBy(losses, ({ asset }) => asset)
  expect(
    [...sums].map(([asset, ages]) => [asset, ages.reduce((sum, { amount }) => sum + amount, 0n)]),
  ).toEqual(rows.map(({ asset, amount }) => [asset, BigInt(amount)]))
  expect(losses.filter(({ age }) => age === 'under_7d').map(({ amount }) => amount)).toEqual([75_000_000n])
  expect(losses.filter(({ age }) => age === 'under_1h').length).toBeGreaterThan(0)
})
