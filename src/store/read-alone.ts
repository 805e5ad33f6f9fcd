import { type Kysely, sql, type Transaction } from 'kysely'

/**
 * Reads much in a transaction that takes one processor of the database and no more. To compile what is run every few
 * minutes takes longer than it saves.
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
