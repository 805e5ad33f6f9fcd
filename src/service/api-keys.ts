import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import { Fault } from '../core/errors.ts'
import type { ApiKeyRow, ApiScope, ServiceDatabase } from './tables.ts'

export type ApiKey = Omit<ApiKeyRow, 'hash'>

export type NewApiKey = { name: string; scope: ApiScope }

const form = /^dsk_([0-9a-f]{8})_[0-9a-f]{48}$/

/** `dsk_`, eight hexadecimal digits (the id), `_` and 48 more (the secret). */
export function isApiKey(text: string): boolean {
  return form.test(text)
}

export function makeApiKey(): string {
  return `dsk_${randomBytes(4).toString('hex')}_${randomBytes(24).toString('hex')}`
}

/** The key itself is returned only here. */
export async function createApiKey(
  db: ServiceDatabase,
  wanted: NewApiKey,
): Promise<ApiKey & { key: string }> {
  const key = makeApiKey()
  const created = await db
    .insertInto('service.api_key')
    .values({ id: idOf(key), hash: hashApiKey(key), ...wanted })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning(shown)
    .executeTakeFirst()
  return created === undefined ? createApiKey(db, wanted) : { ...created, key }
}

/** Oldest first, including revoked keys. */
export function listApiKeys(db: ServiceDatabase): Promise<ApiKey[]> {
  return db.selectFrom('service.api_key').select(shown).orderBy('created_at').orderBy('id').execute()
}

/** Takes effect from the next request on. Null if no key has this id. */
export async function revokeApiKey(db: ServiceDatabase, id: string): Promise<ApiKey | null> {
  await db
    .updateTable('service.api_key')
    .set({ revoked_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute()
  const row = await db.selectFrom('service.api_key').select(shown).where('id', '=', id).executeTakeFirst()
  return row ?? null
}

/**
 * Safe to call at every start: a revoked key stays revoked.
 * @throws Fault `settings_bad` if the text is not an API key, or if another key has the same id.
 */
export async function registerApiKey(
  db: ServiceDatabase,
  { key, name, scope }: NewApiKey & { key: string },
): Promise<void> {
  if (!isApiKey(key)) throw new Fault('settings_bad', { faults: ['an API key is malformed'] })
  const [id, hash] = [idOf(key), hashApiKey(key)]
  // Of two processes that start at once, either may conflict on the id or on the hash.
  await db
    .insertInto('service.api_key')
    .values({ id, hash, name, scope })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await db
    .updateTable('service.api_key')
    .set({ name, scope })
    .where('id', '=', id)
    .where('hash', '=', hash)
    .where('revoked_at', 'is', null)
    .execute()
  if ((await findByHash(db, hash)) === undefined) {
    throw new Fault('settings_bad', { faults: [`the id ${id} belongs to another API key`] })
  }
}

/** Takes constant time: an unknown id costs the same query and the same comparison as a known one. */
export async function findApiKey(db: ServiceDatabase, presented: string): Promise<ApiKey | null> {
  if (!isApiKey(presented)) return null
  const row = await db
    .selectFrom('service.api_key')
    .selectAll()
    .where('id', '=', idOf(presented))
    .executeTakeFirst()
  const isSame = timingSafeEqual(row?.hash ?? emptyHash, hashApiKey(presented))
  if (row === undefined || !isSame || row.revoked_at !== null) return null
  const { hash: _, ...key } = row
  return key
}

const shown = ['id', 'name', 'scope', 'created_at', 'revoked_at'] as const

const emptyHash = Buffer.alloc(32)

function findByHash(db: ServiceDatabase, hash: Buffer): Promise<{ id: string } | undefined> {
  return db.selectFrom('service.api_key').select('id').where('hash', '=', hash).executeTakeFirst()
}

function idOf(key: string): string {
  return form.exec(key)?.[1] ?? ''
}

function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
