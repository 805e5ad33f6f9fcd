import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { type AssetKey, assetCode, type NetworkName } from '../../core/asset.ts'
import type { AssetHolding, BalanceSpan } from '../../core/balance-proof.ts'
import { lossOf } from '../../core/mismatch.ts'
import { asTable } from '../database.ts'
import { type HeldMismatch, type MismatchChange, syncMismatches } from '../mismatches/mismatches.ts'
import type { Tables } from '../tables.ts'
import { holdingColumns, toBalance } from './balance-points.ts'

/** The balance changed by another amount than the stored transfers and movements explain. */
export type BalanceDifference = BalanceSpan & { holding: AssetHolding }

/** Per holding. An asset that changes balances every day would add ranges without end. */
const apartMax = 20

/** Skips ranges within existing ones, or explained by now. */
export async function addDifferences(
  tx: Transaction<Tables>,
  found: readonly BalanceDifference[],
): Promise<void> {
  const rows = found.map(({ holding, start, end }) => ({
    ...holding,
    after_height: start.height,
    after_balance: start.amount,
    height: end.height,
    balance: end.amount,
  }))
  await sql`
    insert into balance_difference (network, address, asset, after_height, after_balance, height, balance, change)
    select found.*, change from ${asTable('found', rows, differenceColumns)},
      lateral (select ${changeOf(sql`found`)} as change) as of_it
    where change <> 0 on conflict do nothing`.execute(tx)
}

const differenceColumns =
  `${holdingColumns}, after_height bigint, after_balance numeric, height bigint, balance numeric` as const

export type StoredDifference = BalanceDifference & { id: bigint }

type BalanceDifferenceRow = AssetHolding & {
  id: bigint
  after_height: bigint
  after_balance: string
  height: bigint
  balance: string
}

/** First those never searched, then those last searched before `searchedBefore`. */
export async function dueDifferences(
  db: Kysely<Tables>,
  { network, searchedBefore, limit }: { network: NetworkName; searchedBefore: Date; limit: number },
): Promise<StoredDifference[]> {
  const { rows } = await sql<BalanceDifferenceRow>`
    select id, network, address, asset, after_height, after_balance, height, balance from balance_difference
    where network = ${network}
      and (searched_at is null or searched_at < ${searchedBefore})
    order by searched_at nulls first, id limit ${limit}`.execute(db)
  return rows.map(({ id, after_height, after_balance, height, balance, ...holding }) => ({
    id,
    holding,
    start: toBalance(after_height, after_balance),
    end: toBalance(height, balance),
  }))
}

export type DifferenceSearchResult = {
  difference: StoredDifference
  found: BalanceSpan
  problem: string | null
  at: Date
}

/** The rest of the wider range becomes a range of its own. */
export async function narrowDifference(
  tx: Transaction<Tables>,
  { difference, found: { start, end }, problem, at }: DifferenceSearchResult,
): Promise<void> {
  await sql`
    update balance_difference d set after_height = found.after_height, after_balance = found.after_balance,
      height = found.height, balance = found.balance, problem = ${problem}, searched_at = ${at}, change = of_it.change
    from (
      select network, address, asset, ${start.height}::bigint as after_height, ${start.amount}::numeric as after_balance,
        ${end.height}::bigint as height, ${end.amount}::numeric as balance
      from balance_difference where id = ${difference.id}
    ) as found, lateral (select ${changeOf(sql`found`)} as change) as of_it
    where d.id = ${difference.id} and of_it.change <> 0`.execute(tx)
  if (end.height === difference.end.height) return
  await addDifferences(tx, [{ holding: difference.holding, start: end, end: difference.end }])
}

/**
 * Deletes differences that are explained or whose asset is no longer read. Joins the ranges of a holding that has too
 * many.
 */
export async function recheckDifferences(
  tx: Transaction<Tables>,
  network: NetworkName,
  assets: readonly AssetKey[],
): Promise<void> {
  await sql`
    delete from balance_difference d
    where network = ${network} and (${changeOf(sql`d`)} = 0 or asset <> all(${assets}::text[]))`.execute(tx)
  await sql`
    update balance_difference d set change = ${changeOf(sql`d`)}
    where network = ${network} and change <> ${changeOf(sql`d`)}`.execute(tx)
  await joinCrowded(tx, network)
}

async function joinCrowded(tx: Transaction<Tables>, network: NetworkName): Promise<void> {
  await sql`
    with crowded as (
      select network, address, asset, min(after_height) as after_height, max(height) as height
      from balance_difference where network = ${network}
      group by network, address, asset having count(*) > ${apartMax}
    ), joined as (
      select d.id, last.height, last.balance, last.balance - d.after_balance
        - known_change(d.network, d.address, d.asset, d.after_height, last.height) as change
      from crowded c
        join balance_difference d using (network, address, asset, after_height)
        join balance_difference last on (last.network, last.address, last.asset, last.height)
          = (c.network, c.address, c.asset, c.height)
    )
    update balance_difference d set height = joined.height, balance = joined.balance, change = joined.change,
      searched_at = now(), problem = ${`more than ${apartMax} ranges`}
    from joined where d.id = joined.id and joined.change <> 0`.execute(tx)
  await sql`
    delete from balance_difference d using balance_difference whole
    where d.network = ${network} and (whole.network, whole.address, whole.asset) = (d.network, d.address, d.asset)
      and whole.after_height < d.after_height and whole.height >= d.height`.execute(tx)
}

type BalanceMismatchRow = AssetHolding & {
  value: string
  change: string
  ranges: string[]
  problem: string | null
}

export async function syncUnexplained(
  tx: Transaction<Tables>,
  network: NetworkName,
): Promise<MismatchChange[]> {
  const { rows } = await sql<BalanceMismatchRow>`
    select network, address, asset, sum(abs(change))::text as value, sum(change)::text as change,
      array_agg(case when height = after_height + 1 then height::text else after_height + 1 || '-' || height end
        order by height) as ranges,
      max(problem) as problem
    from balance_difference where network = ${network} group by network, address, asset`.execute(tx)
  return syncMismatches(tx, sql`kind = ${kind} and network = ${network}`, rows.map(toMismatch))
}

const kind = 'unexplained_balance'

function toMismatch({
  network,
  address,
  asset,
  value,
  change,
  ranges,
  problem,
}: BalanceMismatchRow): HeldMismatch {
  return {
    subject: `balance/${network}/${address}/${assetCode(asset)}`,
    kind,
    network,
    asset,
    value: BigInt(value),
    loss: lossOf(asset, BigInt(value)),
    detail: { address, change, blocks: ranges.join(', '), ...(problem !== null && { problem }) },
  }
}

/** In units of each asset, summed without signs; 0 if there are none. */
export async function unexplainedUnits(
  db: Kysely<Tables>,
): Promise<{ network: string; asset: string; units: number }[]> {
  const { rows } = await sql<{ network: string; asset: string; units: number }>`
    select a.network, a.key as asset, accounting.in_units(coalesce(sum(abs(d.change)), 0), a.decimals)::float8 as units
    from asset a left join balance_difference d on d.asset = a.key group by a.key order by a.key`.execute(db)
  return rows
}

export type AssetDifferenceTotal = { symbol: string; units: string; holdings: number }

export async function differingBalances(
  db: Kysely<Tables>,
  network: NetworkName,
): Promise<AssetDifferenceTotal[]> {
  const { rows } = await sql<AssetDifferenceTotal>`
    select min(a.symbol) as symbol, accounting.in_units(sum(abs(d.change)), min(a.decimals))::text as units,
      count(distinct d.address)::int as holdings
    from balance_difference d join asset a on a.key = d.asset
    where d.network = ${network} group by d.asset order by d.asset`.execute(db)
  return rows
}

function changeOf(range: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${range}.balance - ${range}.after_balance - known_change(
    ${range}.network, ${range}.address, ${range}.asset, ${range}.after_height, ${range}.height
  )`
}
