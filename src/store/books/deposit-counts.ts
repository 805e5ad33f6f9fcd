import { type Kysely, sql, type Transaction } from 'kysely'
import { inTransaction } from '../database.ts'
import type { Tables } from '../tables.ts'

/** Except merged deposits. `network`: empty if it is unknown. */
export type DepositCount = { state: string; service: string; network: string; count: number }

/** From sums that are kept as deposits change. */
export async function countDeposits(db: Kysely<Tables>): Promise<DepositCount[]> {
  const { rows } = await sql<DepositCount>`
    select state, service, network, sum(count)::float8 as count from deposit_count
    group by state, service, network having sum(count) <> 0 order by state, service, network`.execute(db)
  return rows
}

/** More rows than there are combinations in most installations. */
const rowsMax = 200

/** Replaces the differences by their sums if they are many. */
export async function addUpCounts(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql`select from deposit_count offset ${rowsMax} limit 1`.execute(db)
  if (rows.length === 0) return
  await inTransaction(db, async (tx) => {
    await holdCounts(tx)
    await sql`
      with added as (delete from deposit_count returning *)
      insert into deposit_count
      select state, service, network, sum(count) from added group by 1, 2, 3 having sum(count) <> 0`.execute(
      tx,
    )
  })
}

/** `count` is right; `kept` was kept. */
export type WrongCount = DepositCount & { kept: number }

/**
 * Counts all deposits, which takes longer the more there are, and corrects what was kept.
 * @returns what was wrong
 */
export async function recountDeposits(db: Kysely<Tables>): Promise<WrongCount[]> {
  return inTransaction(db, async (tx) => {
    await holdCounts(tx)
    const { rows } = await sql<WrongCount>`
      with counted as (
        select state, service, coalesce(network, '') as network, count(*) as count
        from deposit where merged_into is null group by 1, 2, 3
      ), removed as (
        delete from deposit_count returning *
      ), kept as (
        select state, service, network, sum(count) as count from removed group by 1, 2, 3
      ), written as (
        insert into deposit_count select * from counted
      )
      select state, service, network, coalesce(counted.count, 0)::float8 as count, coalesce(kept.count, 0)::float8 as kept
      from counted full join kept using (state, service, network)
      where coalesce(counted.count, 0) <> coalesce(kept.count, 0) order by 1, 2, 3`.execute(tx)
    return rows
  })
}

/** A statement of its own: the next one sees what the holder before has committed, so each row is replaced once. */
async function holdCounts(tx: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('deposit counts'))`.execute(tx)
}
