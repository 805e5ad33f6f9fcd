import { type QueryExecutorProvider, sql } from 'kysely'
import { until } from './until.ts'

/** Until so many sessions of the database wait for a lock. */
export function untilWaiting(db: QueryExecutorProvider, count = 1): Promise<unknown> {
  return until(`${count} waiting for a lock`, async () => (await countWaiting(db)) >= count || null)
}

/** Sessions of the database that wait for a lock. Within a transaction Postgres tells again what it told first. */
export async function countWaiting(db: QueryExecutorProvider): Promise<number> {
  // What a session of another login waits for is told to nobody, but its locks are.
  const { rows } = await sql<{ count: number }>`
    select count(distinct pid)::integer as count from pg_locks join pg_stat_activity using (pid)
    where datname = current_database() and not granted`.execute(db)
  return rows[0]?.count ?? 0
}

/**
 * Until the transaction ends, whoever writes a row with a value that is too long for it waits between two steps: he has
 * looked whether there is such a row, and it is in no index yet.
 */
export async function holdUpLongValues(tx: QueryExecutorProvider, table: string): Promise<void> {
  await sql`set local role none`.execute(tx)
  const { rows } = await sql<{ name: string }>`
    select reltoastrelid::regclass::text as name from pg_class where oid = ${table}::regclass`.execute(tx)
  for (const { name } of rows) await sql`reindex table ${sql.raw(name)}`.execute(tx)
}
