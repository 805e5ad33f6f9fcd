import { randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../../src/store/database.ts'
import { makePartitions } from '../../../src/store/ledger/maintenance.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { claim, delivery, payment, usdcOnBase, webhook } from '../../support/evidence.ts'

/** What somebody could try who has the role of the daemon, or that of an accountant, and nothing more. */

let books: Books
let owner: Kysely<Tables>
const logins = {
  daemon: `daemon_${randomBytes(8).toString('hex')}`,
  accountant: `accountant_${randomBytes(8).toString('hex')}`,
}
let daemon: Kysely<Tables>
let accountant: Kysely<Tables>

beforeAll(async () => {
  books = await openBooks()
  await makePartitions(books.db)
  await books.receive(webhook(), claim(), payment(), delivery())
  await books.settle()
  owner = openDatabase({ url: books.url, poolMax: 1, applicationName: 'test owner' })
  daemon = await openLogin('daemon')
  accountant = await openLogin('accountant')
})
afterAll(async () => {
  await Promise.all([daemon.destroy(), accountant.destroy()])
  for (const login of Object.values(logins)) await sql`drop role ${sql.id(login)}`.execute(owner)
  await owner.destroy()
  await books[Symbol.asyncDispose]()
})

/** A login that is a member of the role and of no other: the one of the daemon itself owns the tables. */
async function openLogin(who: 'daemon' | 'accountant'): Promise<Kysely<Tables>> {
  const role = `depositd_${who}`
  await sql`create role ${sql.id(logins[who])} login password 'x' in role ${sql.id(role)}`.execute(owner)
  const url = new URL(books.url)
  url.username = logins[who]
  url.password = 'x'
  return openDatabase<Tables>({ url: url.href, poolMax: 20, applicationName: 'test attacker', role })
}

/** In one transaction that is never committed, so that what is not refused spoils no other attempt. */
async function attempt(db: Kysely<Tables>, statements: string): Promise<unknown> {
  const undone = new Error('it was not refused')
  return db.transaction().execute(async (tx) => {
    for (const statement of statements.split(';')) await sql.raw(statement).execute(tx)
    await sql`set constraints all immediate`.execute(tx)
    throw undone
  })
}

const line = `'assets:in_transit:base', 'liabilities:suspense', '${usdcOnBase}', 1`
const late = `select id, 9, ${line}, event_at, recorded_at, period from public.ledger_journal limit 1`
const opened = `insert into ledger_account (id, asset) values ('liabilities:suspense', '${usdcOnBase}') on conflict do nothing`

test.each([
  ['a leg to what is booked', `${opened};insert into public.ledger_transfer ${late}`, 'already booked'],
  [
    'a leg to what is booked, behind a table of its own in place of the journals',
    `create temp table ledger_journal as select * from public.ledger_journal;${opened};insert into public.ledger_transfer ${late}`,
    'already booked',
  ],
  [
    'into a period behind a table of its own in place of the periods',
    `create temp table ledger_period (period date, state text);insert into public.ledger_journal
      (posting_key, kind, event_at, period) values ('mine', 'manual', '2026-01-05', '2026-02-01')`,
    'period',
  ],
  [
    'a leg of no journal',
    `${opened};insert into ledger_transfer values (999999, 1, ${line}, now(), now(), ledger_month(now()))`,
    'the journal does not exist',
  ],
  [
    'a second leg of one number',
    `${opened};with j as (insert into ledger_journal (posting_key, kind, event_at, period)
      values ('mine', 'manual', '2026-01-05', '2026-01-01') returning *)
      insert into ledger_transfer select id, 1, ${line}, event_at, recorded_at, period from j, generate_series(1, 2)`,
    'unique',
  ],
  [
    'a reversal that takes back less, and has it checked later',
    `set constraints all deferred;
      with j as (insert into ledger_journal (posting_key, kind, deposit_id, transfer, reverses, event_at, period)
        select 'mine', 'reversal', deposit_id, transfer, id, event_at, period from ledger_journal where kind = 'settlement' returning *)
      insert into ledger_transfer select j.id, leg, credit, debit, asset, amount, j.event_at, j.recorded_at, j.period
        from j join ledger_transfer t on journal_id = reverses where leg = 1`,
    'does not mirror',
  ],
  [
    'what is no account',
    `insert into ledger_account (id, asset) values ('mine', '${usdcOnBase}')`,
    'ledger_account_id_check',
  ],
  [
    'an account of an asset that is not known',
    `insert into ledger_account (id, asset) values ('assets:mine', 'base/none')`,
    'foreign key',
  ],
])('the role of the daemon does not get %s into the books', async (_what, statements, reason) => {
  await expect(attempt(daemon, statements)).rejects.toThrow(reason)
})

test('an accountant runs nothing that changes the books', async () => {
  for (const call of [
    'make_ledger_partitions()',
    'ledger_cut()',
    'make_ledger_snapshot()',
    `guard_ledger_transfers('ledger_transfer')`,
  ]) {
    await expect(attempt(accountant, `select ${call}`)).rejects.toThrow('permission denied')
  }
  await sql`select * from accounting.trial_balance(now())`.execute(accountant)
  await sql`select * from accounting.statement('shop', '2026-01-01', '2026-02-01')`.execute(accountant)
})

test('what tables of its own are called does not change what an accountant reads', async () => {
  const read = sql`select * from accounting.trial_balance('2026-02-01')`
  const { rows } = await read.execute(accountant)
  expect(rows.length).toBeGreaterThan(0)
  const fooled = await accountant.connection().execute(async (session) => {
    await sql`create temp table ledger_transfer (debit text)`.execute(session)
    await sql`create temp table asset (key text)`.execute(session)
    return read.execute(session)
  })
  expect(fooled.rows).toEqual(rows)
})
