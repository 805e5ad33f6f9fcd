import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { bringUpToDate } from '../../src/app/database.ts'
import type { StorageUrls } from '../../src/config/environment-settings.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { emptyDatabase } from '../support/postgres.ts'

/** An empty database of an owner who is no superuser. Roles are of the whole server: his name is of this test alone. */
async function ownedDatabase() {
  const { url, drop } = await emptyDatabase()
  const db = openDatabase({ url, poolMax: 1, applicationName: 'test' })
  const owner = `owner_${randomBytes(6).toString('hex')}`
  const name = sql.id(new URL(url).pathname.slice(1))
  onTestFinished(async () => {
    await db.destroy()
    await drop()
    await dropRole(url, owner)
  })
  await sql`create role ${sql.id(owner)} login createrole password 'o'`.execute(db)
  await sql`alter database ${name} owner to ${sql.id(owner)}`.execute(db)
  const own = new URL(url)
  own.username = owner
  own.password = 'o'
  const place: StorageUrls = { databaseUrl: own.href, queueUrl: own.href }
  return { db, url, name, owner: sql.id(owner), place }
}

/** As the page on security has it: a member of depositd_daemon that owns nothing. */
async function narrowLogin(db: Database<unknown>, databaseUrl: string): Promise<StorageUrls> {
  const runner = `runner_${randomBytes(6).toString('hex')}`
  await sql`create role ${sql.id(runner)} login password 'r' in role depositd_daemon`.execute(db)
  onTestFinished(() => dropRole(databaseUrl, runner))
  const url = new URL(databaseUrl)
  url.username = runner
  url.password = 'r'
  return { databaseUrl: url.href, queueUrl: url.href }
}

async function dropRole(url: string, role: string): Promise<void> {
  const server = new URL(url)
  server.pathname = '/postgres'
  const db = openDatabase({ url: server.href, poolMax: 1, applicationName: 'test' })
  await sql`drop role ${sql.id(role)}`.execute(db)
  await db.destroy()
}

test('an owner who lacks a right is told which, of the schema and of the queue in it', async () => {
  const { db, name, owner, place } = await ownedDatabase()
  await sql`alter role ${owner} nocreaterole`.execute(db)
  await expect(bringUpToDate(place)).rejects.toThrow(
    /migrating \(0016_roles\).*permission denied to create role; the user of DATABASE_URL must own the database and may/,
  )
  await sql`alter role ${owner} createrole`.execute(db)
  await sql`grant depositd_daemon to ${owner} with admin option`.execute(db)
  expect(await bringUpToDate(place)).toContain('0016_roles')
  expect(await bringUpToDate(place)).toEqual([])
  await sql`drop schema bullmq cascade`.execute(db)
  await sql`create schema bullmq authorization ${owner} create table migration (of_others integer)`.execute(
    db,
  )
  await sql`alter table bullmq.migration owner to ${owner}`.execute(db)
  // What is no denial is told as it is.
  await expect(bringUpToDate(place)).rejects.toThrow(
    /the schema of the queue.*problem "column [^;]* does not exist"$/,
  )
  await sql`drop schema bullmq cascade`.execute(db)
  await sql`revoke create on database ${name} from ${owner}`.execute(db)
  await expect(bringUpToDate(place)).rejects.toThrow(
    /the schema of the queue.*permission denied for database .*; the user of DATABASE_URL must own it and be allowed/,
  )
})

test('where a newer version added something a start goes on, and where one took something away nobody starts', async () => {
  const { db, url, owner, place } = await ownedDatabase()
  await sql`grant depositd_daemon to ${owner} with admin option`.execute(db)
  await bringUpToDate(place)
  const narrow = await narrowLogin(db, url)
  const apply = (name: string) =>
    sql`insert into kysely_migration (name, timestamp) values (${name}, now())`.execute(db)
  expect(await bringUpToDate(narrow)).toEqual([])
  await apply('9997_newer')
  for (const login of [place, narrow]) expect(await bringUpToDate(login)).toEqual([])
  await apply('9998_newer_contract')
  await apply('9999_newest')
  for (const login of [place, narrow])
    await expect(bringUpToDate(login)).rejects.toThrow(
      'migration 9998_newer_contract of a newer version removed tables or columns that this version uses; start that version or a newer one',
    )
})

test('owners that start beside each other all bring the schema up to date', async () => {
  const { db, owner, place } = await ownedDatabase()
  await sql`grant depositd_daemon to ${owner} with admin option`.execute(db)
  const starts = async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => bringUpToDate(place)))
    return outcomes.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
  }
  for (let round = 0; round < 4; round++) expect(await starts()).toEqual([])
})
