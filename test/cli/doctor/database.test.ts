import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPostgres } from '../../../src/sandbox/postgres.ts'
import { type Database, inTransaction, openDatabase } from '../../../src/store/database.ts'
import { openMismatches } from '../../../src/store/mismatches/mismatches.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { type DoctorWorld, openDoctorWorld, settingsText } from '../../support/doctor-world.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { emptyDatabase } from '../../support/postgres.ts'
import { rewritingProxy } from '../../support/redis.ts'
import { bookPayments, seal } from '../../support/sealed-books.ts'

const stack = new AsyncDisposableStack()
let books: Books
let world: DoctorWorld
let owner: Database<Tables>

beforeAll(async () => {
  books = stack.use(await openBooks())
  await seal(books)
  world = await openDoctorWorld(books.url, stack)
  owner = openDatabase<Tables>({ url: books.url, poolMax: 1, applicationName: 'test owner' })
  stack.defer(() => owner.destroy())
})
afterAll(() => stack.disposeAsync())

/** What is said of a user that could change the books, or will own them. */
const owned = (user: string) =>
  `warning | ${user} owns the books: an attacker who controls the daemon could change journals | use a login that is a member of depositd_daemon and owns nothing: docs/security.md#logins`

/** What a check says of a database of which every answer is changed, without changing its length. */
async function saysChanged(check: string, rewrite: (text: string) => string): Promise<string[]> {
  const proxy = await rewritingProxy(books.url, rewrite)
  const url = new URL(books.url)
  url.host = new URL(proxy.url).host
  try {
    return await world.says(check, { DATABASE_URL: url.href, QUEUE_URL: books.url })
  } finally {
    await proxy.stop()
  }
}

test('a server that is too old is a fault', async () => {
  expect(await saysChanged('database', (text) => text.replaceAll(/18(\d{4})/g, '14$1'))).toEqual([
    'fault | Postgres 14 is too old; at least 18 is required | move the database to a newer server (pg_upgrade, or dump and restore)',
  ])
})

test('a server that takes nothing is a fault, and everything else is looked at all the same', async () => {
  const name = sql.ref(new URL(books.url).pathname.slice(1))
  await sql`alter database ${name} set default_transaction_read_only = on`.execute(owner)
  const said = await world.says('database', { QUEUE_URL: 'redis://127.0.0.1:1' })
  const rights = await world.says('rights', { QUEUE_URL: 'redis://127.0.0.1:1' })
  await sql`alter database ${name} reset default_transaction_read_only`.execute(owner)
  expect(said).toEqual([
    expect.stringMatching(/^fault \| answers but is read-only .* \| set DATABASE_URL to the primary server/),
  ])
  expect(rights).toEqual([owned('postgres')])
})

test('a check that cannot be made says so, and takes nothing from the others', async () => {
  await sql`alter view open_mismatch rename to open_mismatch_away`.execute(owner)
  try {
    expect(await world.says('seals')).toEqual([
      expect.stringMatching(/^fault \| .*open_mismatch.* \| try again; if it persists/),
    ])
    expect(await world.says('database')).toEqual(['ok | Postgres 18, user postgres'])
    expect(await world.says('partitions')).toHaveLength(1)
  } finally {
    await sql`alter view open_mismatch_away rename to open_mismatch`.execute(owner)
  }
})

test('a clock that is off is a fault', async () => {
  expect(
    await saysChanged('clock', (text) => text.replaceAll(/20\d\d(-\d\d-\d\d \d\d:\d\d:)/g, '2019$1')),
  ).toEqual([
    expect.stringMatching(
      /^fault \| the database's clock is \d+\.\d s behind this machine; the limit is 5 s \| synchronise both clocks/,
    ),
  ])
})

test('a database without a schema is warned of, one of another version is a fault or warned of', async () => {
  const empty = await emptyDatabase()
  expect(await world.says('schema', { DATABASE_URL: empty.url })).toEqual([
    'warning | is not created yet | run bin/depositd migrate; a start also migrates',
  ])
  await empty.drop()
  const { rows } = await sql<{ name: string; timestamp: string }>`
    delete from kysely_migration where name = (select max(name) from kysely_migration) returning name, timestamp`.execute(
    owner,
  )
  expect(await world.says('schema')).toEqual([
    expect.stringMatching(
      /^fault \| at \d{4}_\w+; this version needs \d{4}_\w+ \| if it is behind, run bin\/depositd migrate/,
    ),
  ])
  const [{ name, timestamp } = { name: '', timestamp: '' }] = rows
  await sql`insert into kysely_migration select unnest(array[${name}, '9999_future']::text[]), ${timestamp}`.execute(
    owner,
  )
  expect(await world.says('schema')).toEqual([
    expect.stringMatching(/^warning \| at 9999_future, from a newer version; .* \| .*use the newer depositd/),
  ])
  await sql`update kysely_migration set name = '0001_other' where name = '9999_future'`.execute(owner)
  expect(await world.says('schema')).toEqual([
    expect.stringMatching(
      /^fault \| has 0001_other, which this version does not know \| .*if it is unknown, use a new database/,
    ),
  ])
  await sql`delete from kysely_migration where name = '0001_other'`.execute(owner)
})

test('a user that may not act as the daemon is a fault, with the statement that mends it', async () => {
  await sql`create role doctor_address_conflict login password 'x'`.execute(owner)
  try {
    const url = new URL(books.url)
    url.username = 'doctor_address_conflict'
    url.password = 'x'
    expect(await world.says('rights', { DATABASE_URL: url.href, QUEUE_URL: books.url })).toEqual([
      'fault | doctor_address_conflict may not act as depositd_daemon | as a superuser: grant depositd_daemon to "doctor_address_conflict"',
    ])
  } finally {
    await sql`drop role doctor_address_conflict`.execute(owner)
  }
})

test('so is one that may not make the roles on a server that has none', async () => {
  const folder = await temporaryFolder()
  const server = await startPostgres({ folder, durability: 'none', log: pino({ level: 'silent' }) })
  try {
    await server.createDatabase('depositd')
    const db = openDatabase({ url: server.url('depositd'), poolMax: 1, applicationName: 'test' })
    await sql`create role plain login password 'x'`.execute(db)
    const url = new URL(server.url('depositd'))
    url.username = 'plain'
    url.password = 'x'
    const changes = { DATABASE_URL: url.href, QUEUE_URL: books.url }
    expect(await world.says('rights', changes)).toEqual([
      'fault | plain may not create the roles of the daemon | as a superuser: alter role "plain" createrole',
    ])
    await sql`alter role plain createrole`.execute(db)
    expect(await world.says('rights', changes)).toEqual([owned('plain')])
    await db.destroy()
  } finally {
    await server.stop()
  }
})

test('rights that the daemon lost, or should never have, are faults with the statements that mend them', async () => {
  await sql`revoke insert on inbox from depositd_daemon; grant delete on ledger_transfer to depositd_daemon`.execute(
    owner,
  )
  const [said = ''] = await world.says('grants')
  expect(said).toBe(
    'fault | depositd_daemon has other rights than the migrations granted, in 2 places | ' +
      'as the owner: grant insert on inbox to depositd_daemon; revoke delete on ledger_transfer from depositd_daemon',
  )
  await sql.raw(said.split('as the owner: ')[1] ?? '').execute(owner)
  expect(await world.says('grants')).toEqual(['ok | the daemon may append to the books, and change nothing'])
})

test.each<[string, string, RegExp]>([
  ['scheduler', 'a scheduler', /^fault \| last tick 36\d\d s ago; the limit is 60 s \| start a scheduler/],
  ['worker', 'a worker', /^fault \| last job 36\d\d s ago; the limit is 60 s \| start a worker/],
  [
    'poll',
    'a poll',
    /^fault \| last complete reading 36\d\d s ago; the limit is 300 s \| .*log of the job poll/,
  ],
  [
    'scan/base',
    'a scan',
    /^fault \| last complete reading 36\d\d s ago; the limit is 300 s \| fix what the checks chain base/,
  ],
])('%s: %s that stands still is a fault; one that never was is warned of', async (stream, _what, line) => {
  expect(await world.says(stream)).toEqual([expect.stringMatching(/^warning \| no .* so far \| /)])
  await sql`insert into stream (name, succeeded_at) values (${stream}, now() - interval '1 hour')`.execute(
    owner,
  )
  expect(await world.says(stream)).toEqual([expect.stringMatching(line)])
})

test('rows that nobody applies are a fault', async () => {
  expect(await world.says('inbox')).toEqual(['ok | nothing waits to be applied'])
  await sql`
    with added as (
      insert into inbox (source, source_key, body, received_at) values ('api', 'doctor', '{', now()) returning id
    )
    insert into inbox_pending (inbox_id, received_at, stored_at)
    select id, now(), now() - interval '1 hour' from added`.execute(owner)
  expect(await world.says('inbox')).toEqual([
    expect.stringMatching(
      /^fault \| the oldest row has waited 36\d\d s to be applied; the limit is 60 s \| start a worker/,
    ),
  ])
})

test('a poll that the settings want seldom may be older', async () => {
  const path = `${world.folder}/seldom.yaml`
  writeFileSync(path, `${settingsText}\nschedule: { pollQuiet: 1h }`)
  expect(await world.says('poll', { DEPOSITD_CONFIG: path })).toEqual([
    expect.stringMatching(/^ok \| last complete reading 36\d\d s ago$/),
  ])
})

test('a month that no partition was made for is warned of', async () => {
  await sql`select make_ledger_partitions()`.execute(owner)
  const [{ month } = { month: '' }] = (
    await sql<{ month: string }>`
      select to_char(now() at time zone 'UTC' + interval '1 month', 'YYYYMM') as month`.execute(owner)
  ).rows
  expect(await world.says('partitions')).toEqual(['ok | this month and the next have partitions'])
  await sql.raw(`drop table ledger_transfer_${month}`).execute(owner)
  expect(await world.says('partitions')).toEqual([
    `warning | ${month} has no partition: journals go to the default partition | run bin/depositd migrate before that month begins`,
  ])
})

test('journals that wait too long for their seal, and a seal that is broken, are faults', async () => {
  await bookPayments(books, 1, 1)
  expect(await world.says('seals')).toEqual([expect.stringMatching(/^ok \| /)])
  await sql`
    alter table ledger_journal disable trigger user;
    update ledger_journal set recorded_at = recorded_at - interval '2 hours';
    alter table ledger_journal enable trigger user`.execute(owner)
  expect(await world.says('seals')).toEqual([
    expect.stringMatching(
      /^fault \| the oldest unsealed row was written 72\d\d s ago \| run bin\/depositd ledger seal/,
    ),
  ])
  await inTransaction(books.db, (tx) =>
    openMismatches(tx, [{ subject: 'seal/1', kind: 'seal_broken', detail: {} }]),
  )
  expect(await world.says('seals')).toEqual([
    'fault | 1 broken: rows differ from what was sealed | bin/depositd ledger verify; docs/runbook.md#seal_broken',
  ])
})

test('a guarded account that is on its other side is warned of', async () => {
  const config = join(world.folder, 'guards.yaml')
  writeFileSync(config, `${settingsText}\naccounts: { guards: ['liabilities:*'] }\n`)
  const says = () => world.says('accounts', { DEPOSITD_CONFIG: config })
  expect(await world.says('accounts')).toEqual([])
  expect(await says()).toEqual(['ok | no guarded account is on its other side'])
  const file = join(world.folder, 'journal.yaml')
  const line = `{ debit: liabilities:suspense, credit: assets:receivable:service, asset: base/USDC, amount: '1' }`
  writeFileSync(file, `{ date: 2026-01-02, reason: test, lines: [${line}] }`)
  const book = (environment: Record<string, string>) =>
    runCommand(`ledger journal add ${file} --break-glass erin,max`, environment)
  const guarded = await book({ ...world.environment, DEPOSITD_CONFIG: config })
  expect(guarded.err).toMatch(/liabilities:suspense would have a debit balance of .* accounts.guards refuses/)
  expect((await book(world.environment)).status).toBe(0)
  expect(await says()).toEqual([
    expect.stringMatching(
      /^warning \| guarded accounts on the other side than usual: 1, for example liabilities:suspense with .* \| look at its entries/,
    ),
  ])
})

test('a policy that is not the one in force is warned of', async () => {
  expect(await world.says('policy')).toEqual(['ok | becomes active with the first start'])
  await sql`
    insert into stream (name, cursor) values ('policy', '{"digest": "other", "isApplied": true}')`.execute(
    owner,
  )
  expect(await world.says('policy')).toEqual([
    'warning | the active policy differs from these settings | restart every worker, or correct DEPOSITD_CONFIG',
  ])
})
