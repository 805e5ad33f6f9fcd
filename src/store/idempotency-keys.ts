import { createHash } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import type { Tables } from './tables.ts'

/** `call`: all that distinguishes it from another call of the token. */
export type CallKey = { token: bigint; key: string; call: string }

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
