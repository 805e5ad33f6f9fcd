import { type Kysely, sql } from 'kysely'
import type { Vitals } from '../core/health.ts'
import type { Tables } from './tables.ts'

type VitalsRow = {
  migrations: string[]
  isReadOnly: boolean
  inbox: number
  ages: Record<string, number>
}

const nothing: VitalsRow = { migrations: [], isReadOnly: false, inbox: 0, ages: {} }

/** State of the database, in one statement, so that a caller waits for a connection only once. */
export async function readHealth(db: Kysely<Tables>): Promise<Vitals> {
  const { rows } = await sql<VitalsRow>`
    select coalesce((select jsonb_agg(name) from kysely_migration), '[]') as migrations,
      current_setting('transaction_read_only') = 'on' as "isReadOnly",
      coalesce((select greatest(extract(epoch from now() - min(stored_at)), 0) from inbox_pending), 0)::float8 as inbox,
      coalesce((
        select jsonb_object_agg(name, greatest(extract(epoch from now() - succeeded_at), 0)) from stream
        where succeeded_at is not null
      ), '{}') as ages`.execute(db)
  const { inbox, ages, ...known } = rows[0] ?? nothing
  return { ...known, inboxOldest: inbox, ages: new Map(Object.entries(ages)) }
}

/** Records a heartbeat as the time of a stream that has no leases. */
export async function keepBeat(db: Kysely<Tables>, stream: string): Promise<void> {
  await sql`
    insert into stream (name, succeeded_at) values (${stream}, now())
    on conflict (name) do update set succeeded_at = excluded.succeeded_at`.execute(db)
}
