import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { checkSnapshots } from '../../../src/jobs/books/ledger-checks.ts'
import { snapshotBooks } from '../../../src/jobs/books/ledger-work.ts'
import { openDatabase } from '../../../src/store/database.ts'
import { cutLedger, isSnapshotDue, makeSnapshot } from '../../../src/store/ledger/maintenance.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { usdcOnBase, usdtOnBase } from '../../support/evidence.ts'

let books: Books
let owner: Kysely<Tables>

beforeAll(async () => {
  books = await openBooks()
  owner = openDatabase({ url: books.url, poolMax: 1, applicationName: 'test owner' })
  await sql`set session_replication_role = replica`.execute(owner)
})
afterAll(async () => {
  await owner.destroy()
  await books[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await sql`truncate ledger_journal, ledger_account, ledger_snapshot, ledger_snapshot_day cascade`.execute(
    owner,
  )
})

/** Writes journals of any two times past all guards: `minutes` before now of what happened, and of the recording. */
async function record(...lines: { happened: number; recorded: number; amount: number; asset?: string }[]) {
  for (const { happened, recorded, amount, asset = usdcOnBase } of lines) {
    await sql`with journal as (
      insert into ledger_journal (posting_key, kind, event_at, recorded_at, period)
      select gen_random_uuid(), 'manual', now() - make_interval(mins => ${happened}),
        now() - make_interval(mins => ${recorded}), ledger_month(now()) returning *
    ) insert into ledger_transfer select id, 1, ${`assets:${amount % 3}`}, 'equity:all', ${asset}, ${amount}::numeric,
      event_at, recorded_at, period from journal`.execute(owner)
  }
  await sql`insert into ledger_account (id, asset)
    select distinct account, asset from ledger_entry on conflict do nothing`.execute(owner)
}

/** What differs between the trial balance and the raw sums, as of each of these pairs of minutes before now. */
async function differing(pairs: readonly (readonly [number, number])[]): Promise<unknown[]> {
  const { rows } = await sql`
    with asked as (
      select now() - make_interval(mins => e) as as_of, now() - make_interval(mins => r) as recorded_as_of
      from unnest(${pairs.map(([e]) => e)}::int[], ${pairs.map(([, r]) => r)}::int[]) as pair (e, r)
    ), quick as (
      select asked.*, t.account, t.asset, t.debit_base as debit, t.credit_base as credit, t.balance_base as balance
      from asked cross join lateral accounting.trial_balance(as_of, recorded_as_of) t
    ), raw as (
      select asked.*, e.account, e.asset, coalesce(sum(e.amount) filter (where e.amount > 0), 0) as debit,
        coalesce(-sum(e.amount) filter (where e.amount < 0), 0) as credit, sum(e.amount) as balance
      from asked join ledger_entry e on e.event_at <= as_of and e.recorded_at <= recorded_as_of
      group by 1, 2, 3, 4
    )
    (select * from quick except select * from raw) union all (select * from raw except select * from quick)`.execute(
    books.db,
  )
  return rows
}

/** What differs between the turnover of one account and the part of the whole that is its. */
async function differingOfOne(pairs: readonly (readonly [number, number])[]): Promise<unknown[]> {
  const { rows } = await sql`
    with asked as (
      select now() - make_interval(mins => e) as as_of, now() - make_interval(mins => r) as recorded_as_of
      from unnest(${pairs.map(([e]) => e)}::int[], ${pairs.map(([, r]) => r)}::int[]) as pair (e, r)
    ), one as (
      select asked.*, t.* from asked cross join lateral ledger_turnover(as_of, recorded_as_of, array['assets:1']) t
    ), part as (
      select asked.*, t.* from asked cross join lateral ledger_turnover(as_of, recorded_as_of) t
      where t.account = 'assets:1'
    )
    (select * from one except select * from part) union all (select * from part except select * from one)`.execute(
    books.db,
  )
  return rows
}

async function counts(): Promise<{ days: number; months: number }> {
  const { rows } = await sql<{ days: number; months: number }>`
    select (select count(*)::int from ledger_snapshot_day) as days,
      (select count(distinct recorded)::int from ledger_snapshot where span = 'month') as months`.execute(
    owner,
  )
  return rows[0] ?? { days: 0, months: 0 }
}

const day = 24 * 60

/** Numbers that look like chance and are the same each time. */
function* chance(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 1103515245 + 12345) % 2147483648
    yield state / 2147483648
  }
}

test('as of any two times the trial balance is what all transfers up to then add up to', async () => {
  const numbers = chance(7)
  const below = (max: number) => Math.floor((numbers.next().value ?? 0) * max)
  const lines = Array.from({ length: 300 }, () => {
    const happened = below(100 * day)
    const asset = below(2) === 0 ? usdcOnBase : usdtOnBase
    return {
      happened,
      recorded: below(2) === 0 ? happened : below(happened + 1),
      amount: 1 + below(1000),
      asset,
    }
  })
  await record(...lines)
  const times = [0, 1, 30, day, 10 * day, 40 * day, 70 * day, 99 * day, 200 * day, -60]
  const pairs = times.flatMap((e) => times.map((r) => [e, r] as const))
  const random = Array.from({ length: 60 }, () => [below(100 * day), below(100 * day)] as const)
  expect(await differing([...pairs, ...random])).toEqual([])
  expect(await snapshotBooks(books.db)).toBeGreaterThan(90)
  expect((await counts()).months).toBeGreaterThanOrEqual(3)
  expect(await differing([...pairs, ...random])).toEqual([])
  expect(await differingOfOne([...pairs, ...random])).toEqual([])
  expect(await checkSnapshots.run(books.db, () => undefined)).toMatchObject({ findings: [] })
})

test('as of an hour that is whole to the microsecond, what was recorded or happened in it is in, and nothing after', async () => {
  await record({ happened: 5 * day, recorded: 5 * day, amount: 1 })
  await sql`update ledger_transfer set event_at = date_trunc('day', event_at, 'UTC'),
    recorded_at = date_trunc('day', recorded_at, 'UTC')`.execute(owner)
  await sql`update ledger_journal set event_at = date_trunc('day', event_at, 'UTC'),
    recorded_at = date_trunc('day', recorded_at, 'UTC')`.execute(owner)
  await snapshotBooks(books.db)
  const { rows } = await sql`
    select (select count(*)::int from accounting.trial_balance(at, at)) as at,
      (select count(*)::int from accounting.trial_balance(at - interval '1 microsecond', at)) as before,
      (select count(*)::int from accounting.trial_balance(at, at - interval '1 microsecond')) as unreported,
      (select count(*)::int from accounting.trial_balance('infinity', 'infinity')) as ever,
      (select count(*)::int from accounting.trial_balance('-infinity')) as never
    from (select event_at as at from ledger_transfer) as one`.execute(books.db)
  expect(rows).toEqual([{ at: 2, before: 0, unreported: 0, ever: 2, never: 0 }])
})

test('what is recorded today is added up tomorrow, and each day once', async () => {
  await record({ happened: 3 * day, recorded: 2 * day, amount: 1 }, { happened: 0, recorded: 0, amount: 2 })
  expect(await isSnapshotDue(books.db)).toBe(true)
  const made = await snapshotBooks(books.db)
  expect([1, 2]).toContain(made)
  expect(await isSnapshotDue(books.db)).toBe(false)
  expect(await snapshotBooks(books.db)).toBe(0)
  const { rows } = await sql<{ recorded: boolean }>`
    select max(recorded) < (now() at time zone 'UTC')::date as recorded from ledger_snapshot_day`.execute(
    owner,
  )
  expect(rows).toEqual([{ recorded: true }])
})

test('a day that ended less than ten minutes before the cut is not added up yet', async () => {
  await record({ happened: 2 * day, recorded: 2 * day, amount: 1 })
  const { rows } = await sql<{ early: Date; enough: Date }>`
    select date_trunc('day', recorded_at, 'UTC') + interval '1 day 9 minutes' as early,
      date_trunc('day', recorded_at, 'UTC') + interval '1 day 10 minutes' as enough from ledger_journal`.execute(
    owner,
  )
  const { early, enough } = rows[0] ?? expect.fail()
  const cut = (cutAt: Date) => sql`update ledger_last_cut set cut_at = ${cutAt}`.execute(owner)
  await cut(early)
  expect(await makeSnapshot(books.db)).toBeNull()
  await cut(enough)
  expect(await makeSnapshot(books.db)).not.toBeNull()
})

test('what was booked after the newest cut waits for the next one', async () => {
  await record({ happened: 4 * day, recorded: 4 * day, amount: 1 })
  await sql`update ledger_last_cut set cut_at = '-infinity'`.execute(owner)
  expect(await makeSnapshot(books.db)).toBeNull()
  await cutLedger(books.db)
  expect(await makeSnapshot(books.db)).not.toBeNull()
})

test('a cut that is said to be in the future adds up nothing that is not over', async () => {
  await record({ happened: 0, recorded: 0, amount: 1 })
  await sql`update ledger_last_cut set cut_at = now() + interval '40 days'`.execute(owner)
  expect(await makeSnapshot(books.db)).toBeNull()
})

test('twenty that add up at once add up each day once', async () => {
  await record({ happened: 9 * day, recorded: 9 * day, amount: 3 }, { happened: 0, recorded: day, amount: 2 })
  const made = await Promise.all(Array.from({ length: 20 }, () => snapshotBooks(books.db)))
  const { days } = await counts()
  expect(made.reduce((sum, one) => sum + one, 0)).toBe(days)
  expect((await checkSnapshots.run(books.db, () => undefined)).findings).toEqual([])
})

test('books with nothing in them have nothing to add up', async () => {
  expect(await snapshotBooks(books.db)).toBe(0)
  expect(await checkSnapshots.run(books.db, () => undefined)).toEqual({ findings: [], counted: { days: 0 } })
})

test.each([
  [
    'a sum that was altered, and that of its month alike',
    `update ledger_snapshot set debit = debit + 1 where debit = 5`,
    1,
  ],
  ['a sum that was thrown away', `delete from ledger_snapshot where debit = 5 and span = 'day'`, 2],
  [
    'a sum that was made up',
    `insert into ledger_snapshot select 'day', recorded, event, 'assets:made up', asset, 1, 0
      from ledger_snapshot where debit = 5 and span = 'day'`,
    2,
  ],
  [
    'a month that was altered',
    `update ledger_snapshot set credit = credit + 1 where debit = 5 and span = 'month'`,
    1,
  ],
  ['a transfer that was altered', `update ledger_transfer set amount = amount + 2 where amount = 5`, 2],
  ['a transfer that was slipped into a day that is over', 'slip', 2],
])('%s is found', async (_what, statement, findings) => {
  // Long enough ago that the month is over, too.
  await record({ happened: 40 * day, recorded: 40 * day, amount: 5 })
  await snapshotBooks(books.db)
  expect((await checkSnapshots.run(books.db, () => undefined)).findings).toEqual([])
  if (statement === 'slip') await record({ happened: 40 * day, recorded: 40 * day, amount: 8 })
  else await sql.raw(statement).execute(owner)
  const outcome = await checkSnapshots.run(books.db, () => undefined)
  expect(outcome.findings).toHaveLength(findings)
  expect(outcome.findings[0]).toMatch(
    /^recorded \d{4}-\d\d(-\d\d)?, of \d{4}-\d\d(-\d\d)?, .+: stored .+, recomputed /,
  )
})
