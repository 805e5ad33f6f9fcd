import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../../src/store/database.ts'
import { cutLedger, makePartitions, makeSnapshot } from '../../../src/store/ledger/maintenance.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { claim, delivery, payment, usdcOnBase, webhook } from '../../support/evidence.ts'

/** What the database itself refuses, of what the daemon and the code of signed decisions could write into the books. */

let books: Books
let writer: Kysely<Tables>
let owner: Kysely<Tables>

beforeAll(async () => {
  books = await openBooks()
  writer = openDatabase({
    url: books.url,
    poolMax: 2,
    applicationName: 'test writer',
    role: 'depositd_decider',
  })
  owner = openDatabase({ url: books.url, poolMax: 2, applicationName: 'test owner' })
  await makePartitions(writer)
  await sql`insert into decision (uuid, kind, people, text) values (gen_random_uuid(), 'journal', 2, '{}')`.execute(
    owner,
  )
  await books.receive(webhook(), claim(), payment(), delivery())
  await books.settle()
})
afterAll(async () => {
  await owner.destroy()
  await writer.destroy()
  await books[Symbol.asyncDispose]()
})

/** In one transaction that is never committed. */
async function attempt(db: Kysely<Tables>, statements: string): Promise<unknown> {
  return db.transaction().execute(async (tx) => {
    for (const statement of statements.split(';')) await sql.raw(statement).execute(tx)
    await sql`set constraints all immediate`.execute(tx)
    throw new Error('it was not refused')
  })
}

const open = `insert into ledger_account (id, asset) values ('assets:a', '${usdcOnBase}'), ('equity:b', '${usdcOnBase}')`
const book = ({ event = '2026-01-05T00:00:00Z', period = '2026-01-01', amount = '1' } = {}) =>
  `with j as (insert into ledger_journal (posting_key, kind, event_at, period)
    values ('mine', 'manual', '${event}', '${period}') returning *)
  insert into ledger_transfer select id, 1, 'assets:a', 'equity:b', '${usdcOnBase}', ${amount}, event_at, recorded_at, period from j`
const reason = `insert into manual_journal select id, 1, 'why', 'erin', 'max' from ledger_journal where posting_key = 'mine'`
const leg = (number: number, amount: string, key = 'mine') =>
  `insert into ledger_transfer select id, ${number}, 'assets:a', 'equity:b', '${usdcOnBase}', ${amount}, event_at, recorded_at, period
    from ledger_journal where posting_key = '${key}'`
const reverse = (key: string, which: string) =>
  `with j as (insert into ledger_journal (posting_key, kind, deposit_id, transfer, reverses, event_at, period)
    select '${key}', 'reversal', deposit_id, transfer, id, event_at, period from ledger_journal where ${which} returning *)
  insert into ledger_transfer
  select j.id, t.leg, t.credit, t.debit, t.asset, t.amount, j.event_at, j.recorded_at, j.period
  from j join ledger_transfer t on t.journal_id = j.reverses`
const takeBack = reverse('mine', "kind = 'deposit'")
const hence = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
const close = `insert into ledger_period_event (period, action, decision_id, actor, sha256)
  values ('2026-01-01', 'closed', 1, 'erin', repeat('0', 64))`
const seal = `insert into seal
  (number, sealed_table, last_id, first_leaf, leaves, ids, hashes, marks)
  values (1, 'ledger_journal', 1, 0, 1, decode(repeat('00', 8), 'hex'), decode(repeat('00', 32), 'hex'), '')`

test.each([
  ['a journal by hand and all that belongs to it', `${open};${book()};${reason}`],
  ['what takes a journal back', takeBack],
  [
    'a journal of a little ahead',
    `${open};${book({ event: hence(14), period: `${hence(14).slice(0, 7)}-01` })};${reason}`,
  ],
  ['a seal', seal],
])('the writer of decisions writes %s', async (_what, statements) => {
  await expect(attempt(writer, statements)).rejects.toThrow('it was not refused')
})

test.each([
  ['an amount that is no number', `${open};${book({ amount: "'NaN'" })}`, 'is_number'],
  ['an amount of a deposit that is no number', `update deposit set amount = 'NaN'`, 'is_number'],
  ['a fee that is no number', `update deposit set fee_amount = 'NaN'`, 'is_number'],
  ['what was delivered that is no number', `update deposit set settlement_amount = 'NaN'`, 'is_number'],
  ...['NaN', 'Infinity'].flatMap((sum) => [
    [
      `a frozen debit of ${sum}`,
      `${open};${close};insert into ledger_period_balance select max(id), 'assets:a', '${usdcOnBase}', '${sum}', 0 from ledger_period_event`,
      'is_number',
    ],
    [
      `a frozen credit of ${sum}`,
      `${open};${close};insert into ledger_period_balance select max(id), 'assets:a', '${usdcOnBase}', 0, '${sum}' from ledger_period_event`,
      'is_number',
    ],
  ]),
  ...['repeatable read', 'serializable'].flatMap((level) => [
    [`a journal under ${level}`, `set transaction isolation level ${level};${book()}`, 'isolation level'],
    [`a close under ${level}`, `set transaction isolation level ${level};${close}`, 'isolation level'],
    [
      `a snapshot under ${level}`,
      `set transaction isolation level ${level};select make_ledger_snapshot()`,
      'isolation level',
    ],
  ]),
  [
    'one more leg to what takes a journal back, once that was looked at',
    `${open};${takeBack};set constraints all immediate;${leg(9, '1')}`,
    'does not mirror',
  ],
  [
    'one more leg to what is taken back, once that was looked at',
    `${open};${book()};${reason};${reverse('back', "posting_key = 'mine'")};
      insert into manual_journal select id, 1, 'why', 'erin', 'max' from ledger_journal where posting_key = 'back';
      set constraints all immediate;${leg(9, '1')}`,
    'not booked yet',
  ],
  [
    'a journal without transfers',
    `insert into ledger_journal (posting_key, kind, event_at, period) values ('mine', 'manual', '2026-01-05', '2026-01-01')`,
    'it has no transfers',
  ],
  [
    'a journal of more than a quarter of an hour ahead',
    `${open};${book({ event: hence(16), period: `${hence(16).slice(0, 7)}-01` })}`,
    'more than 15 minutes ahead',
  ],
  [
    'a frozen line of a month that is not closed, behind a table of its own in place of the history',
    `${open};${close.replace("'closed'", "'soft_closed'").replace("repeat('0', 64)", 'null')};
      create temp table ledger_period_event as select id, 'closed' as action from public.ledger_period_event;
      insert into public.ledger_period_balance select max(id), 'assets:a', '${usdcOnBase}', 1, 0 from ledger_period_event`,
    'already closed',
  ],
  [
    'a journal by hand of before all chains',
    book({ event: '2008-12-31T23:59:59Z', period: '2008-12-01' }),
    'event_at_check',
  ],
  [
    'a journal by hand of the year 10000',
    book({ event: '10000-01-01T00:00:00Z', period: '10000-01-01' }),
    'event_at_check',
  ],
  ['a journal of no time', book({ event: 'infinity', period: 'infinity' }), 'event_at_check'],
])('the writer of decisions does not write %s', async (_what, statements, problem) => {
  await expect(attempt(writer, statements ?? '')).rejects.toThrow(problem)
})

test.each(['debit', 'credit'])('nobody writes a snapshot whose %s is no number', async (side) => {
  for (const sum of ['NaN', 'Infinity']) {
    const statement = `insert into ledger_snapshot (span, recorded, event, account, asset, debit, credit)
      select 'day', now(), now(), 'a', 'b', 0, 0;update ledger_snapshot set ${side} = '${sum}'`
    await expect(attempt(owner, `set local session_replication_role = replica;${statement}`)).rejects.toThrow(
      'is_number',
    )
  }
})

const bookAfterSnapshot = (days: number) =>
  `insert into ledger_snapshot_day select (now() at time zone 'UTC')::date + ${days}, now();${open};${book()};${reason}`

test('nothing is booked on a day of recording that has a snapshot, as by a clock that was set back', async () => {
  await expect(attempt(owner, bookAfterSnapshot(0))).rejects.toThrow('already has a snapshot')
  await expect(attempt(owner, bookAfterSnapshot(-1))).rejects.toThrow('it was not refused')
})

test('a cut that is undone is not gone by', async () => {
  const newest = async () => (await sql`select * from ledger_last_cut`.execute(writer)).rows
  await cutLedger(writer)
  const before = await newest()
  await expect(attempt(writer, 'select ledger_cut()')).rejects.toThrow('it was not refused')
  expect(await newest()).toEqual(before)
  await cutLedger(writer)
  expect(await newest()).not.toEqual(before)
  expect(await makeSnapshot(writer)).toBeNull()
})

test('twenty that cut at once all do, one after the other', async () => {
  const cuts = await Promise.all(Array.from({ length: 20 }, () => cutLedger(writer)))
  expect(new Set(cuts.map(({ lastJournal }) => lastJournal)).size).toBe(1)
})

test('what temporary tables an accountant makes does not change what is in transit', async () => {
  const accountant = openDatabase<Tables>({
    url: books.url,
    poolMax: 1,
    applicationName: 'test accountant',
    role: 'depositd_accountant',
  })
  try {
    const ask = sql`select * from accounting.in_transit_at('2027-01-01', '2027-01-01')`
    const before = (await ask.execute(accountant)).rows
    await sql`create temp table ledger_transit as select 7::bigint as deposit_id, 'assets:in_transit:base' as account,
      ${usdcOnBase}::text as asset, 5::numeric as amount, timestamptz '2026-01-01' as event_at,
      timestamptz '2026-01-01' as recorded_at`.execute(accountant)
    expect((await ask.execute(accountant)).rows).toEqual(before)
  } finally {
    await accountant.destroy()
  }
})

test.each(['fees', 'conversion'])(
  'accounting.%s looks for legs in the part that holds them alone',
  async (view) => {
    const { rows } = await sql<Record<'QUERY PLAN', string>>`
    explain (analyze, costs off, timing off, summary off) select * from ${sql.table(`accounting.${view}`)}`.execute(
      owner,
    )
    const plan = rows.map((row) => row['QUERY PLAN'])
    // A part that is left out stands in the plan all the same.
    expect(plan.filter((line) => /on ledger_transfer_default .*never executed/.test(line))).not.toEqual([])
  },
)
