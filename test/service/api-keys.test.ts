import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createApiKey,
  findApiKey,
  isApiKey,
  listApiKeys,
  makeApiKey,
  registerApiKey,
  revokeApiKey,
} from '../../src/service/api-keys.ts'
import type { ServiceDatabase, ServiceTables } from '../../src/service/tables.ts'
import { inTransaction, openDatabase } from '../../src/store/database.ts'
import { serviceDatabase, type TestDatabase } from '../support/postgres.ts'
import { holdUpLongValues, untilWaiting } from '../support/waiting.ts'

let database: TestDatabase
let db: ServiceDatabase

beforeAll(async () => {
  database = await serviceDatabase()
  db = openDatabase<ServiceTables>({ url: database.url, poolMax: 10, applicationName: 'test' })
})

afterAll(async () => {
  await db.destroy()
  await database.drop()
})

test('a key is shown once: what is kept of it and listed does not hold it', async () => {
  const { key, ...created } = await createApiKey(db, { name: 'shop', scope: 'write' })
  expect(key).toMatch(new RegExp(`^dsk_${created.id}_[0-9a-f]{48}$`))
  expect(await findApiKey(db, key)).toEqual(created)
  expect(await listApiKeys(db)).toContainEqual(created)
  const { rows } = await sql<object>`select to_jsonb(api_key) as row from service.api_key`.execute(db)
  const secret = key.slice(-48)
  expect(JSON.stringify(rows)).not.toContain(secret)
  expect(JSON.stringify(rows)).not.toContain(Buffer.from(secret, 'hex').toString('hex'))
})

test('a key that differs from a known one in a single sign is not known', async () => {
  const { key } = await createApiKey(db, { name: 'shop', scope: 'read' })
  const last = key.endsWith('0') ? '1' : '0'
  expect(await findApiKey(db, `${key.slice(0, -1)}${last}`)).toBeNull()
  expect(await findApiKey(db, makeApiKey())).toBeNull()
})

test.each([
  '',
  'secret',
  'dsk_00000001_',
  `dsk_0000000g_${'1'.repeat(48)}`,
  `DSK_00000001_${'1'.repeat(48)}`,
  `dsk_00000001_${'1'.repeat(48)}\n`,
  ` dsk_00000001_${'1'.repeat(48)}`,
])('%j has not the form of a key', async (text) => {
  expect(isApiKey(text)).toBe(false)
  expect(await findApiKey(db, text)).toBeNull()
  await expect(registerApiKey(db, { key: text, name: 'x', scope: 'read' })).rejects.toThrow(/is malformed/)
})

test('a revoked key is not found any more, stays listed, and was revoked when it first was', async () => {
  const { key, id } = await createApiKey(db, { name: 'old', scope: 'read' })
  const revoked = await revokeApiKey(db, id)
  expect(revoked?.revoked_at).toBeInstanceOf(Date)
  expect(await findApiKey(db, key)).toBeNull()
  expect(await revokeApiKey(db, id)).toEqual(revoked)
  expect(await listApiKeys(db)).toContainEqual(revoked)
  expect(await revokeApiKey(db, 'ffffffff')).toBeNull()
})

test('a given key may be kept again, with another scope, until it is revoked', async () => {
  const key = makeApiKey()
  await registerApiKey(db, { key, name: 'given', scope: 'read' })
  await registerApiKey(db, { key, name: 'given', scope: 'write' })
  const found = await findApiKey(db, key)
  expect(found).toMatchObject({ name: 'given', scope: 'write' })
  await revokeApiKey(db, found?.id ?? '')
  await registerApiKey(db, { key, name: 'given', scope: 'write' })
  expect(await findApiKey(db, key)).toBeNull()
})

test('a given key cannot take the id of another', async () => {
  const key = makeApiKey()
  await registerApiKey(db, { key, name: 'first', scope: 'read' })
  const other = `${key.slice(0, 13)}${'f'.repeat(48)}`
  await expect(registerApiKey(db, { key: other, name: 'second', scope: 'write' })).rejects.toThrow(
    /belongs to another API key/,
  )
  expect(await findApiKey(db, other)).toBeNull()
  expect(await findApiKey(db, key)).toMatchObject({ name: 'first' })
})

test('of twenty who keep a key at once all succeed, and one key is there', async () => {
  const key = makeApiKey()
  await Promise.all(
    Array.from({ length: 20 }, () => registerApiKey(db, { key, name: 'raced', scope: 'read' })),
  )
  const keys = await listApiKeys(db)
  expect(keys.filter(({ name }) => name === 'raced')).toHaveLength(1)
})

test('of two who keep a key at the same moment both succeed', async () => {
  await sql`alter table service.api_key drop constraint api_key_name_check`.execute(db)
  const name = Array.from({ length: 1000 }, () => randomUUID()).join('')
  const given = { key: makeApiKey(), name, scope: 'read' } as const
  const keeping = await inTransaction(db, async (tx) => {
    await holdUpLongValues(tx, 'service.api_key')
    const both = [registerApiKey(db, given), registerApiKey(db, given)]
    await untilWaiting(db, 2)
    return { both: Promise.all(both) }
  })
  await keeping.both
  expect(await findApiKey(db, given.key)).toMatchObject({ name })
})

test('nobody takes a revocation back, not even in the database', async () => {
  const { id } = await createApiKey(db, { name: 'gone', scope: 'read' })
  await revokeApiKey(db, id)
  const restore = sql`update service.api_key set revoked_at = null where id = ${id}`.execute(db)
  await expect(restore).rejects.toThrow(/is revoked/)
})
