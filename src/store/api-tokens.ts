import { createHash, randomBytes } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import { Fault } from '../core/errors.ts'
import type { TokenScope } from '../people/roles.ts'
import { preparing } from './database.ts'
import { recordAccess } from './sessions.ts'
import type { Tables } from './tables.ts'

/** A service account. It has no key, so that it decides nothing and is never a second person. */
export type ApiToken = {
  id: bigint
  name: string
  scopes: readonly TokenScope[]
  /** Null for all. */
  services: readonly string[] | null
  owners: readonly string[] | null
  created_by: string
  created_at: Date
  revoked_at: Date | null
  /** To the hour. */
  last_used_at: Date | null
}

export type NewApiToken = Pick<ApiToken, 'name' | 'scopes' | 'services' | 'owners'> & { by: string }

/** Lower case, so that a log and a shell need no quotes. */
export const tokenNameForm = /^[a-z0-9][a-z0-9._-]{0,62}$/

const tokenForm = /^depositd_[A-Za-z0-9_-]{43}$/

const fields = sql`id, name, scopes, services, owners, created_by, created_at, revoked_at, last_used_at`

const uniqueViolation = '23505'

/**
 * The token itself is returned only here.
 * @throws Fault `usage_bad` if the name is used
 */
export async function createApiToken(
  tx: Transaction<Tables>,
  { name, scopes, services, owners, by }: NewApiToken,
): Promise<{ token: string; created: ApiToken }> {
  const token = `depositd_${randomBytes(32).toString('base64url')}`
  const values = sql`${name}, ${hashOf(token)}, ${[...scopes]}, ${services && [...services]}, ${owners && [...owners]}, ${by}`
  const { rows } = await sql<ApiToken>`
    insert into api_token (name, sha256, scopes, services, owners, created_by) values (${values})
    returning ${fields}`
    .execute(tx)
    .catch((error: unknown) => refuseUsed(name, error))
  const [created] = rows
  if (created === undefined) throw new Error('an inserted token is returned')
  await recordAccess(tx, { person: by, action: 'token_created', detail: describeToken(created) })
  return { token, created }
}

function refuseUsed(name: string, error: unknown): never {
  if (!(error instanceof Error && 'code' in error && error.code === uniqueViolation)) throw error
  const fix = 'choose another name, or revoke that token first'
  throw new Fault('usage_bad', { problem: `a token with the name ${name} exists`, fix }, { cause: error })
}

function describeToken({ name, scopes, services, owners }: ApiToken): string {
  return [
    `${name}: ${scopes.join(', ')}`,
    ...(services === null ? [] : [`services ${services.join(', ')}`]),
    ...(owners === null ? [] : [`owners ${owners.join(', ')}`]),
  ].join('; ')
}

/** The API notices within a second. Null if no active token has this name. */
export async function revokeApiToken(
  tx: Transaction<Tables>,
  { name, by }: { name: string; by: string },
): Promise<ApiToken | null> {
  const { rows } = await sql<ApiToken>`
    update api_token set revoked_at = clock_timestamp()
    where lower(name) = lower(${name}) and revoked_at is null returning ${fields}`.execute(tx)
  const revoked = rows[0] ?? null
  if (revoked !== null) await recordAccess(tx, { person: by, action: 'token_revoked', detail: revoked.name })
  return revoked
}

/** The oldest first, revoked ones included. */
export async function listApiTokens(
  db: Kysely<Tables>,
  { after, limit }: { after?: bigint | undefined; limit: number },
): Promise<ApiToken[]> {
  const { rows } = await sql<ApiToken>`
    select ${fields} from api_token where id > ${after ?? 0n} order by id limit ${limit}`.execute(db)
  return rows
}

/** Notes the use once an hour. Null if it is unknown or revoked. */
export async function findApiToken(db: Kysely<Tables>, token: string): Promise<ApiToken | null> {
  if (!tokenForm.test(token)) return null
  const { rows } = await sql<ApiToken & { isNoted: boolean }>`
    select ${fields}, coalesce(last_used_at > now() - interval '1 hour', false) as "isNoted"
    from api_token where sha256 = ${hashOf(token)} and revoked_at is null`.execute(preparing(db))
  const [row] = rows
  if (row === undefined) return null
  const { isNoted, ...found } = row
  if (!isNoted)
    await sql`
      update api_token set last_used_at = date_trunc('hour', clock_timestamp())
      where id = ${found.id} and revoked_at is null`.execute(db)
  return found
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** `call`: all that distinguishes it from another call of the token. */
type CallKey = { token: bigint; key: string; call: string }

const keptFor = sql`interval '24 hours'`

/**
 * Does the work once for each key within a day; calls with the same key wait for each other.
 * @param work gives the number of the event that it appended
 * @returns that number, also of the earlier work; null if the key was used for another call
 */
export async function workOnce(
  tx: Transaction<Tables>,
  { token, key, call }: CallKey,
  work: () => Promise<bigint>,
): Promise<bigint | null> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${token} ${key}`}, 0))`.execute(tx)
  const sha256 = createHash('sha256').update(call).digest()
  await sql`delete from idempotency_key where at < clock_timestamp() - ${keptFor}`.execute(tx)
  const { rows } = await sql<{ event: bigint; isSame: boolean }>`
    select event_id as event, sha256 = ${sha256} as "isSame" from idempotency_key
    where token_id = ${token} and key = ${key}`.execute(tx)
  const [known] = rows
  if (known !== undefined) return known.isSame ? known.event : null
  const event = await work()
  await sql`
    insert into idempotency_key (token_id, key, sha256, event_id)
    values (${token}, ${key}, ${sha256}, ${event})`.execute(tx)
  return event
}
