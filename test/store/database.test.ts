import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { inTransaction, openDatabase, pingDatabase, preparing } from '../../src/store/database.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const endOthers = sql`
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name = 'victim' and query like '%sleep%' and state <> 'idle'`

test('a connection that the server cuts fails its query, in and out of a transaction, and nothing else', async () => {
  const database = await emptyDatabase()
  const open = (applicationName: string) => openDatabase({ url: database.url, poolMax: 4, applicationName })
  const [victim, killer] = [open('victim'), open('killer')]
  try {
    const sleep = sql`select pg_sleep(30)`
    const cut = [sleep.execute(victim), inTransaction(victim, (tx) => sleep.execute(tx))]
    const failed = Promise.allSettled(cut)
    let ended = 0
    await until('both are cut', async () => {
      ended += (await endOthers.execute(killer)).rows.length
      return ended >= 2 || null
    })
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await until('other connections serve', () =>
      pingDatabase(victim).then(
        () => true,
        () => null,
      ),
    )
  } finally {
    await Promise.all([victim.destroy(), killer.destroy()])
    await database.drop()
  }
})

const double = (value: number) => sql<{ value: number }>`select 2 * ${value}::int as value`

test('a connection prepares a statement once, in and out of a transaction, and no other', async () => {
  const database = await emptyDatabase()
  const db = openDatabase({ url: database.url, poolMax: 1, applicationName: 'test' })
  expect((await double(1).execute(preparing(db))).rows).toEqual([{ value: 2 }])
  expect((await inTransaction(preparing(db), (tx) => double(2).execute(tx))).rows).toEqual([{ value: 4 }])
  await double(3).execute(db)
  const { rows } = await sql<{ text: string; plans: number }>`
    select statement as text, (generic_plans + custom_plans)::int as plans from pg_prepared_statements`.execute(
    db,
  )
  expect(rows).toEqual([{ text: expect.stringContaining('select 2 * $1::int as value'), plans: 2 }])
  await db.destroy()
  await database.drop()
})

test('a transaction that stands still is ended by the server, so that its locks do not stay', async () => {
  const database = await emptyDatabase()
  const db = openDatabase({ url: database.url, poolMax: 1, applicationName: 'test' })
  const { rows } = await sql<{ idle: string; lock: string }>`
    select current_setting('idle_in_transaction_session_timeout') as idle, current_setting('lock_timeout') as lock`.execute(
    db,
  )
  expect(rows).toEqual([{ idle: '30s', lock: '30s' }])
  await db.destroy()
  await database.drop()
})
