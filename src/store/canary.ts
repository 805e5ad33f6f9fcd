import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { ageOf } from './database.ts'
import type { Tables } from './tables.ts'

/** If it was off, its age is measured from now on. */
export async function switchCanary(db: Kysely<Tables>, isOn: boolean): Promise<void> {
  await sql`
    insert into canary (is_on) values (${isOn})
    on conflict (is_only) do update
      set is_on = excluded.is_on, since = case when canary.is_on then canary.since else now() end`.execute(db)
}

/**
 * Once per interval across all processes.
 * @returns false if it is not due
 */
export async function claimCanary(db: Kysely<Tables>, everyMs: number): Promise<boolean> {
  const { rows } = await sql`
    insert into canary (started_at) values (now())
    on conflict (is_only) do update set started_at = now()
      where canary.started_at is null or canary.started_at <= now() - ${everyMs} * interval '1 millisecond'
    returning is_only`.execute(db)
  return rows.length > 0
}

/** A later arrival counts as an ordinary webhook. */
const tokensKept = '1 day'

/** Also deletes old ones. */
export async function startCanary(db: Kysely<Tables>, token: string): Promise<void> {
  await sql`
    with forgotten as (delete from canary_webhook where sent_at < now() - ${sql.lit(tokensKept)}::interval)
    insert into canary_webhook (token_sha256) values (${hashOf(token)})`.execute(db)
}

/** @returns false if the token is unknown */
export async function receiveCanary(db: Kysely<Tables>, token: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update canary_webhook set received_at = coalesce(received_at, now())
    where token_sha256 = ${hashOf(token)}`.execute(db)
  return numAffectedRows === 1n
}

/** @returns whether the canary arrived */
export async function endCanary(db: Kysely<Tables>, token: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update canary set succeeded_at = greatest(canary.succeeded_at, w.received_at)
    from canary_webhook w where w.token_sha256 = ${hashOf(token)} and w.received_at is not null`.execute(db)
  return numAffectedRows === 1n
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** Seconds since the last success, or since a later turning on; null before the first start. */
export async function canaryAge(db: Kysely<Tables>): Promise<number | null> {
  const { rows } = await sql<{ age: number }>`
    select ${ageOf(sql`greatest(succeeded_at, since)`)} as age from canary where is_on`.execute(db)
  return rows[0]?.age ?? null
}
