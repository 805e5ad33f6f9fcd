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

/** Differences that a reader adds up. */
const differencesMax = 200

/** Replaces differences by their sums if they are many. */
export async function addUpCounts(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ isDue: boolean }>`
    select exists (select from deposit_count offset ${differencesMax})
      or exists (select from deposit_hour where not is_sum offset ${differencesMax}) as "isDue"`.execute(db)
  if (rows[0]?.isDue !== true) return
  await inTransaction(db, async (tx) => {
    await holdCounts(tx)
    await sql`
      with added as (delete from deposit_count returning *)
      insert into deposit_count
      select state, service, network, sum(count) from added group by 1, 2, 3 having sum(count) <> 0`.execute(
      tx,
    )
    await sql`
      with added as (
        delete from deposit_hour where hour in (select hour from deposit_hour where not is_sum) returning *
      )
      insert into deposit_hour
      select ${hourSums}, true from added group by 1, 2, 3, 4, 5 having sum(deposits) <> 0`.execute(tx)
  })
}

/** Grouped by the first five. */
const hourSums = sql`hour, service, asset, settlement_asset, matrix, sum(deposits)::bigint as deposits,
  sum(settled)::bigint as settled, sum(steps_known)::bigint as steps_known, sum(steps_reported)::bigint as steps_reported,
  sum(paid) as paid, sum(delivered) as delivered, sum(fee) as fee, sum(before_fee) as before_fee`

/**
 * Counts all deposits, which takes longer the more there are, and corrects what was kept.
 * @returns what was wrong
 */
export function recountDeposits(db: Kysely<Tables>): Promise<string[]> {
  return inTransaction(db, async (tx) => {
    await holdCounts(tx)
    return [...(await recountStates(tx)), ...(await recountHours(tx))]
  })
}

async function recountStates(tx: Transaction<Tables>): Promise<string[]> {
  const { rows } = await sql<DepositCount & { kept: number }>`
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
  return rows.map(
    ({ state, service, network, count, kept }) =>
      `${kept} instead of ${count} ${state} of ${service} on ${network === '' ? 'no network' : network}`,
  )
}

/** Writes only what was wrong. */
async function recountHours(tx: Transaction<Tables>): Promise<string[]> {
  const { rows } = await sql<{ service: string; hour: Date }>`
    with kept as materialized (
      select ${hourSums} from deposit_hour group by 1, 2, 3, 4, 5 having sum(deposits) <> 0
    ), counted as materialized (
      select * from deposit_hour_counted
    ), missing as (
      select * from counted except select * from kept
    ), wrong as (
      select * from missing union (select * from kept except select * from counted)
    ), removed as (
      delete from deposit_hour d using wrong w
      where (d.hour, d.service, d.asset, d.settlement_asset, d.matrix) = (w.hour, w.service, w.asset, w.settlement_asset, w.matrix)
    ), written as (
      insert into deposit_hour select *, true from missing
    )
    select distinct service, hour from wrong order by service, hour`.execute(tx)
  return rows.map(({ service, hour }) => `sums of ${service} in the hour of ${hour.toISOString()}`)
}

/** A statement of its own: the next one sees what the holder before has committed, so each row is replaced once. */
async function holdCounts(tx: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('deposit counts'))`.execute(tx)
}
