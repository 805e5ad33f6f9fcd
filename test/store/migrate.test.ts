import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { inTransaction, openDatabase } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { temporaryFolder } from '../support/folder.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { untilWaiting } from '../support/waiting.ts'

const folder = join(import.meta.dirname, '../../db/migrations')

async function openEmpty(): Promise<Kysely<unknown>> {
  const database = await emptyDatabase()
  const db = openDatabase({ url: database.url, poolMax: 20, applicationName: 'test' })
  onTestFinished(async () => {
    await db.destroy()
    await database.drop()
  })
  return db
}

test('every migration is applied once, in the order of the numbers', async () => {
  const db = await openEmpty()
  const applied = await migrate(db, folder)
  expect(applied.slice(0, 2)).toEqual(['0001_evidence', '0002_owners'])
  expect(applied).toEqual(applied.toSorted())
  expect(await migrate(db, folder)).toEqual([])
})

test('of ten who migrate at once, one does it and none fails', async () => {
  const db = await openEmpty()
  const race = await Promise.all(Array.from({ length: 10 }, () => migrate(db, folder)))
  expect(race.filter((applied) => applied.length > 0)).toHaveLength(1)
})

test('a migration that fails leaves nothing behind, and is named with its own message', async () => {
  const db = await openEmpty()
  const own = await temporaryFolder()
  writeFileSync(join(own, '0001_good.sql'), 'create table good (id integer)')
  writeFileSync(join(own, '0002_bad.sql'), 'create table bad (id integer); create table bad (id integer)')
  writeFileSync(join(own, 'notes.txt'), 'not a migration')
  await expect(migrate(db, own)).rejects.toThrow(
    'remote_failed: what "migrating (0002_bad)", problem "relation \\"bad\\" already exists"',
  )
  const { rows } = await sql`select to_regclass('bad') as bad, to_regclass('good') as good`.execute(db)
  expect(rows).toEqual([{ bad: null, good: null }])
  writeFileSync(join(own, '0002_bad.sql'), 'create table bad (id integer)')
  expect(await migrate(db, own)).toEqual(['0001_good', '0002_bad'])
})

test('a migration that a program at work is caught in a deadlock with begins again', async () => {
  const db = await openEmpty()
  await sql`create table one (id integer); create table other (id integer)`.execute(db)
  const own = await temporaryFolder()
  const patient = `set local deadlock_timeout = '4s'`
  writeFileSync(join(own, '0001_one.sql'), `${patient}; alter table one add column name text`)
  writeFileSync(join(own, '0002_other.sql'), 'alter table other add column name text')
  const migrating = await db.transaction().execute(async (tx) => {
    await sql`set local deadlock_timeout = '1min'`.execute(tx)
    await sql`select from other`.execute(tx)
    const under = migrate(db, own)
    await untilWaiting(db)
    // The migration holds what this waits for, and waits for what this holds: Postgres ends the one that looks first, once.
    await sql`select from one`.execute(tx)
    return { under }
  })
  expect(await migrating.under).toEqual(['0001_one', '0002_other'])
})

test('work that has to give way is done again from its start, and what else fails is not', async () => {
  const db = await openEmpty()
  await sql`create table counter (value integer); insert into counter values (0)`.execute(db)
  const race = Array.from({ length: 5 }, () =>
    inTransaction(db, async (tx) => {
      await sql`set transaction isolation level serializable`.execute(tx)
      const { rows } = await sql<{ value: number }>`select value from counter`.execute(tx)
      await sql`update counter set value = ${(rows[0]?.value ?? 0) + 1}`.execute(tx)
    }),
  )
  await Promise.all(race)
  expect((await sql`select value from counter`.execute(db)).rows).toEqual([{ value: 5 }])
  let attempts = 0
  const failing = inTransaction(db, () => {
    attempts++
    return Promise.reject(new Error('a bug'))
  })
  await expect(failing).rejects.toThrow('a bug')
  expect(attempts).toBe(1)
})

test.each([
  [
    'other files before its own end',
    ['0001_good', '0002_other'],
    'this version has no migration 0002_other, and it cannot',
  ],
  [
    'other files, and more of them',
    ['0001_other', '0037_other'],
    'this version has no migration 0037_other, and it cannot',
  ],
  ['its own files with a gap', ['0002_better'], 'this version has no migration 0002_better, and it cannot'],
])('a database made by %s is refused and left as it is', async (_what, names, problem) => {
  const db = await openEmpty()
  const [own, other] = [await temporaryFolder(), await temporaryFolder()]
  for (const name of names) writeFileSync(join(other, `${name}.sql`), 'select 1')
  for (const name of ['0001_good', '0002_better'])
    writeFileSync(join(own, `${name}.sql`), `create table "${name}" ()`)
  await migrate(db, other)
  await expect(migrate(db, own)).rejects.toMatchObject({
    code: 'schema_unknown',
    details: { problem: expect.stringContaining(problem) },
  })
  const { rows } = await sql`select from pg_tables where tablename like '000%'`.execute(db)
  expect(rows).toEqual([])
})
