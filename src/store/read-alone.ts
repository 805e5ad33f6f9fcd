import { type Kysely, sql, type Transaction } from 'kysely'

/**
 * Runs a large read in a transaction that uses one processor of the database. JIT is off: for statements that run every
 * few minutes, compiling takes longer than it saves.
 */
export function readAlone<Tables, Result>(
  db: Kysely<Tables>,
  read: (tx: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  return db
    .transaction()
    .setAccessMode('read only')
    .execute(async (tx) => {
      await sql`select set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true)`.execute(
        tx,
      )
      return read(tx)
    })
}
