import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import { Fault } from '../core/errors.ts'
import type { ApiKeyRow, ApiScope, ServiceDatabase } from './tables.ts'

/** What may be known of a key by who does not hold it. */
export type ApiKey = Omit<ApiKeyRow, 'hash'>

export type NewApiKey = { name: string; scope: ApiScope }

const form = /^dsk_([0-9a-f]{8})_[0-9a-f]{48}$/

/** True for `dsk_`, eight hexadecimal digits that name the key, `_` and 48 that are its secret. */
export function isApiKey(text: string): boolean {
  return form.test(text)
}

/** A key that nobody has: only its holder can know it. */
export function makeApiKey(): string {
  return `dsk_${randomBytes(4).toString('hex')}_${randomBytes(24).toString('hex')}`
}

/** The answer is the only place where the key is ever shown. */
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

/** Oldest first, the revoked ones among them. */
export function listApiKeys(db: ServiceDatabase): Promise<ApiKey[]> {
  return db.selectFrom('service.api_key').select(shown).orderBy('created_at').orderBy('id').execute()
}

/** Holds from the next request on, and for good. Null where there is no key of that id. */
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
 * Makes a given key one that may call, with the scope that is given now. It may be called at every start: a key that
 * was revoked stays revoked.
 * @throws Fault `settings_bad` where it has no key's form, or shares its id with another key.
 */
export async function keepApiKey(
  db: ServiceDatabase,
  { key, name, scope }: NewApiKey & { key: string },
): Promise<void> {
  if (!isApiKey(key)) throw new Fault('settings_bad', { faults: ['an API key has not the form of one'] })
  const [id, hash] = [idOf(key), hashApiKey(key)]
  // No key of the table is named: of two that start at once, either may find the other by its id or by its hash.
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

/**
 * The key that was presented, where it may call. The time this takes tells nothing: an id that is not there costs the
 * same look-up and the same comparison.
 */
export async function findApiKey(db: ServiceDatabase, presented: string): Promise<ApiKey | null> {
  if (!isApiKey(presented)) return null
  const row = await db
    .selectFrom('service.api_key')
    .selectAll()
    .where('id', '=', idOf(presented))
    .executeTakeFirst()
  const isSame = timingSafeEqual(row?.hash ?? nobodysHash, hashApiKey(presented))
  if (row === undefined || !isSame || row.revoked_at !== null) return null
  const { hash: _, ...key } = row
  return key
}

const shown = ['id', 'name', 'scope', 'created_at', 'revoked_at'] as const

const nobodysHash = Buffer.alloc(32)

function findByHash(db: ServiceDatabase, hash: Buffer): Promise<{ id: string } | undefined> {
  return db.selectFrom('service.api_key').select('id').where('hash', '=', hash).executeTakeFirst()
}

function idOf(key: string): string {
  return form.exec(key)?.[1] ?? ''
}

/** What is kept of a key. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
