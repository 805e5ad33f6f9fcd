import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AccountId } from '../../../src/core/chart.ts'
import type { TransferRef } from '../../../src/core/evidence.ts'
import type { Amount } from '../../../src/core/money.ts'
import { inTransaction, openDatabase } from '../../../src/store/database.ts'
import { bookJournals } from '../../../src/store/ledger/journals.ts'
import { makePartitions } from '../../../src/store/ledger/maintenance.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, makeDeposit, openBooks } from '../../support/books.ts'
import { usdcOnBase } from '../../support/evidence.ts'

let books: Books
let owner: Kysely<Tables>
let depositId: bigint

beforeAll(async () => {
  books = await openBooks()
  owner = openDatabase({ url: books.url, poolMax: 2, applicationName: 'test owner' })
  depositId = await makeDeposit(books.db, 'base/tx/0')
})
afterAll(async () => {
  await owner.destroy()
  await books[Symbol.asyncDispose]()
})

function book(key: string, eventAt = '2026-01-15T12:00:00Z'): Promise<void> {
  const debit = 'assets:in_transit:base' as AccountId
  const credit = 'liabilities:suspense' as AccountId
  const transfers = [{ debit, credit, asset: usdcOnBase, amount: 1n as Amount }]
  const one = { key, depositId, transfer: 'base/tx/0' as TransferRef, reverses: null, transfers }
  return inTransaction(books.db, (tx) =>
    bookJournals(tx, [{ ...one, kind: 'deposit', eventAt: new Date(eventAt) }]),
  )
}

async function booked(key: string): Promise<{ period: string; part: string; is_copied: boolean }> {
  const { rows } = await sql<{ period: string; part: string; is_copied: boolean }>`
    select j.period, t.tableoid::regclass::text as part,
      (t.event_at, t.recorded_at, t.period) = (j.event_at, j.recorded_at, j.period) as is_copied
    from ledger_journal j join ledger_transfer t on t.journal_id = j.id where posting_key = ${key}`.execute(
    owner,
  )
  expect(rows).toHaveLength(1)
  return rows[0] ?? expect.fail()
}

async function setPeriods(...periods: [string, string][]): Promise<void> {
  await sql`delete from ledger_period`.execute(owner)
  for (const [period, state] of periods) {
    await sql`insert into ledger_period (period, state) values (${period}, ${state})`.execute(owner)
  }
}

const shift = (months: number) =>
  sql<string>`to_char(now() at time zone 'UTC' + make_interval(months => ${months}), 'YYYYMM')`

test('what is booked stands in the partition of its month, and before one was made, in the one for all the rest', async () => {
  await book('before')
  expect((await booked('before')).part).toBe('ledger_transfer_default')
  // This month has rows already, which stay where they are.
  expect(await makePartitions(books.db)).toBe(3)
  expect(await makePartitions(books.db)).toBe(0)
  const { rows } = await sql<{ part: string; name: string }>`
    select inhrelid::regclass::text as part, 'ledger_transfer_' || ${shift(1)} as name from pg_inherits
    where inhparent = 'ledger_transfer'::regclass and inhrelid = ('ledger_transfer_' || ${shift(1)})::regclass`.execute(
    owner,
  )
  expect(rows).toHaveLength(1)
  await book('after')
  expect((await booked('after')).part).toBe('ledger_transfer_default')
})

test('partitions are made once, however many ask for them at once', async () => {
  await using fresh = await openBooks()
  const made = await Promise.all(Array.from({ length: 20 }, () => makePartitions(fresh.db)))
  expect(made.toSorted((one, other) => other - one).slice(0, 2)).toEqual([4, 0])
})

test('in a month whose partition was made, it holds what is booked, and is guarded as the whole is', async () => {
  await using fresh = await openBooks()
  await makePartitions(fresh.db)
  const own = await makeDeposit(fresh.db, 'base/tx/0')
  const lines = [
    {
      debit: 'assets:a' as AccountId,
      credit: 'equity:b' as AccountId,
      asset: usdcOnBase,
      amount: 1n as Amount,
    },
  ]
  const one = {
    key: 'a',
    depositId: own,
    transfer: 'base/tx/0' as TransferRef,
    reverses: null,
    transfers: lines,
  }
  await inTransaction(fresh.db, (tx) => bookJournals(tx, [{ ...one, kind: 'deposit', eventAt: new Date() }]))
  const { rows } = await sql<{ part: string }>`
    select tableoid::regclass::text as part from ledger_transfer`.execute(fresh.db)
  const part = rows[0]?.part ?? ''
  expect(part).toMatch(/^ledger_transfer_\d{6}$/)
  const superuser = openDatabase<Tables>({ url: fresh.url, poolMax: 1, applicationName: 'test owner' })
  for (const db of [fresh.db, superuser]) {
    for (const attempt of [
      `update ${part} set amount = 2`,
      `delete from ${part}`,
      `truncate ${part}`,
      `insert into ${part} select journal_id, 2, debit, credit, asset, amount, event_at, recorded_at, period from ${part}`,
    ]) {
      await expect(sql.raw(attempt).execute(db)).rejects.toThrow(
        /append-only|permission denied|already booked/,
      )
    }
  }
  await superuser.destroy()
})

test('a transfer has the times and the period of its journal, to the microsecond', async () => {
  await book('copied')
  expect(await booked('copied')).toMatchObject({ period: '2026-01-01', is_copied: true })
})

test.each([
  ['another time of the event', "event_at + interval '1 microsecond', recorded_at, period"],
  ['another time of recording', "event_at, recorded_at - interval '1 month', period"],
  ['another period', "event_at, recorded_at, (period + interval '1 month')::date"],
])('a transfer with %s than its journal is refused', async (_what, copies) => {
  const attempt = sql`with booked as (
    insert into ledger_journal (posting_key, kind, deposit_id, transfer, event_at, period)
    values ('copy', 'deposit', ${depositId}, 'base/tx/0', now(), ledger_month(now()))
    returning id, event_at, recorded_at, period
  ) insert into ledger_transfer select id, 1, 'assets:in_transit:base', 'liabilities:suspense', ${usdcOnBase}, 1,
    ${sql.raw(copies)} from booked`
  await book(`opens accounts for ${_what}`)
  await expect(attempt.execute(books.db)).rejects.toThrow(
    /times and period differ from those|it has no transfers/,
  )
})

test.each([
  ['an open month', [], '2026-01-01', '2026-01-01'],
  ['a closed month', [['2026-01-01', 'closed']], '2026-02-01', '2026-02-01'],
  ['a month that was opened again', [['2026-01-01', 'open']], '2026-01-01', '2026-01-01'],
  ['a soft-closed month', [['2026-01-01', 'soft_closed']], '2026-02-01', '2026-01-01'],
  [
    'a month before others that are shut',
    [
      ['2026-01-01', 'closed'],
      ['2026-02-01', 'closed'],
      ['2026-03-01', 'soft_closed'],
    ],
    '2026-04-01',
    '2026-03-01',
  ],
] as [string, [string, string][], string, string][])(
  'what happened in %s is booked in the first period that is open to it',
  async (what, periods, ...expected) => {
    const [ordinary, adjustment] = expected
    await setPeriods(...periods)
    const { rows } = await sql`
      select ledger_period_for('2026-01-31T23:59:59Z') as ordinary,
        ledger_period_for('2026-01-31T23:59:59Z', true) as adjustment`.execute(books.db)
    expect(rows).toEqual([{ ordinary, adjustment }])
    await book(`in ${what}`, '2026-01-31T23:59:59Z')
    expect((await booked(`in ${what}`)).period).toBe(ordinary)
    await setPeriods()
  },
)

test.each([
  ['is closed', '2026-01-01', [['2026-01-01', 'closed']]],
  ['is soft-closed', '2026-01-01', [['2026-01-01', 'soft_closed']]],
  ['is later than it need be', '2026-02-01', []],
  ['is before the event', '2025-12-01', []],
  ['is no month', '2026-01-15', []],
] as [string, string, [string, string][]][])(
  'a period that %s is refused',
  async (_what, period, periods) => {
    await setPeriods(...periods)
    const attempt = sql`insert into ledger_journal (posting_key, kind, deposit_id, transfer, event_at, period)
    values ('refused', 'deposit', ${depositId}, 'base/tx/0', '2026-01-15T12:00:00Z', ${period})`
    await expect(attempt.execute(books.db)).rejects.toThrow(/period/)
    await setPeriods()
  },
)

const manual = (key: string) => sql`
  with booked as (insert into ledger_journal (posting_key, kind, event_at, period)
    values (${key}, 'manual', '2026-01-15T12:00:00Z', '2026-01-01') returning *
  ), line as (insert into ledger_transfer select id, 1, 'assets:in_transit:base', 'liabilities:suspense', ${usdcOnBase},
    1, event_at, recorded_at, period from booked)
  insert into manual_journal (journal_id, reason, made_by, approved_by) select id, 'why', 'erin', 'max' from booked`

test('a person may book into a soft-closed month, and not into a closed one', async () => {
  await setPeriods(['2026-01-01', 'soft_closed'])
  await manual('adjustment').execute(books.owner)
  await setPeriods(['2026-01-01', 'closed'])
  await expect(manual('too late').execute(books.owner)).rejects.toThrow('period is closed')
  await setPeriods()
})

test.each(['deposit', 'settlement', 'refund', 'write_off', 'withdrawal'])(
  'a %s is about a transfer, and one that is not is refused',
  async (kind) => {
    const attempt = sql`insert into ledger_journal (posting_key, kind, event_at, period)
      values ('about nothing', ${kind}, '2026-01-15T12:00:00Z', '2026-01-01')`
    await expect(attempt.execute(books.db)).rejects.toThrow('about_check')
  },
)
