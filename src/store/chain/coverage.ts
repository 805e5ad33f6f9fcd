import { type Kysely, sql, type Transaction } from 'kysely'
import type { Address, AssetKey, NetworkName } from '../../core/asset.ts'
import { asTable } from '../database.ts'
import type { Tables } from '../tables.ts'

/** Both ends included. */
export type CoverageRange = { from: bigint; to: bigint }

/** The final height that was read, and the assets, sorted. */
export type NetworkReadState = { assets: readonly AssetKey[]; height: bigint }

export type Coverage = {
  /** Addresses up to this number were read, from their first watched height on. */
  watched: number
  assets: readonly AssetKey[]
  proved: readonly CoverageRange[]
}

/** Null if the network was never read. */
export async function readScanPosition(
  db: Kysely<Tables>,
  network: NetworkName,
): Promise<NetworkReadState | null> {
  const { rows } = await sql<NetworkReadState>`
    select assets, height from chain_network where network = ${network}`.execute(db)
  return rows[0] ?? null
}

export async function saveScanPosition(
  tx: Transaction<Tables>,
  network: NetworkName,
  { assets, height }: NetworkReadState,
): Promise<void> {
  await sql`
    insert into chain_network (network, assets, height) values (${network}, ${assets}::text[], ${height})
    on conflict (network) do update set assets = excluded.assets, height = excluded.height`.execute(tx)
}

/** Call it only in the transaction that stores what was found there. */
export async function addCoverage(
  tx: Transaction<Tables>,
  network: NetworkName,
  { watched, assets, proved }: Coverage,
): Promise<void> {
  if (watched === 0 || proved.length === 0) return
  await sql`
    insert into chain_coverage (network, watched, assets, heights)
    select ${network}, ${watched}::integer, ${assets}::text[], range_agg(int8range("from", "to", '[]'))
    from ${asTable('proved', proved, 'from bigint, to bigint')}
    on conflict (network, watched, assets) do update
      set heights = chain_coverage.heights + excluded.heights`.execute(tx)
  await carryOver(tx, network, { watched, assets })
  await dropContained(tx, network)
}

/** `to` is null for everything from `from` on. */
export async function withdrawCoverage(
  tx: Transaction<Tables>,
  network: NetworkName,
  { from, to }: { from: bigint; to: bigint | null },
): Promise<void> {
  const range = sql`int8multirange(int8range(${from}::bigint, ${to}::bigint, '[]'))`
  await sql`
    update chain_coverage set heights = heights - ${range}
    where network = ${network} and heights && ${range}`.execute(tx)
  await sql`delete from chain_coverage where network = ${network} and isempty(heights)`.execute(tx)
}

/** Where a later address is not watched yet, the coverage of the earlier ones is complete. */
async function carryOver(
  tx: Transaction<Tables>,
  network: NetworkName,
  { watched, assets }: Pick<Coverage, 'watched' | 'assets'>,
): Promise<void> {
  await sql`
    update chain_coverage set heights = chain_coverage.heights + carried.heights
    from (
      select range_agg(lower_row.heights * int8multirange(int8range(null, first.height))) as heights
      from chain_coverage lower_row, lateral (
        select min(from_height) as height from chain_watch
        where network = ${network} and number > lower_row.watched and number <= ${watched}
      ) first
      where lower_row.network = ${network} and lower_row.watched < ${watched} and lower_row.assets = ${assets}::text[]
    ) carried
    where network = ${network} and watched = ${watched} and assets = ${assets}::text[]
      and carried.heights is not null`.execute(tx)
}

async function dropContained(tx: Transaction<Tables>, network: NetworkName): Promise<void> {
  await sql`
    delete from chain_coverage gone using chain_coverage kept
    where gone.network = ${network} and kept.network = ${network}
      and kept.watched >= gone.watched and kept.assets @> gone.assets and kept.heights @> gone.heights
      and (kept.watched, kept.assets) <> (gone.watched, gone.assets)`.execute(tx)
}

type Gap = CoverageRange & {
  addresses: readonly Address[]
  watched: number
  assets: readonly AssetKey[]
}

/**
 * The lowest range from `above` on that the same addresses miss from end to end.
 * @returns null if nothing is missing
 */
export async function nextGap(db: Kysely<Tables>, network: NetworkName, above: bigint): Promise<Gap | null> {
  const { rows } = await sql<Gap>`
    with missing as materialized (
      select watched_from, watched_to, from_height,
        heights * int8multirange(int8range(${above}::bigint, null)) as heights
      from chain_gap where network = ${network}
    ), low as (
      select min(lower(heights)) as height from missing where not isempty(heights)
    ), ends as (
      select min(case when lower(heights) > low.height then lower(heights)
          else (select upper(block_range) from unnest(heights) block_range where block_range @> low.height) end) as height
      from missing, low where not isempty(heights)
    )
    select low.height as from, ends.height - 1 as to, chain_network.assets,
      (select max(number) from chain_watch where network = ${network}) as watched,
      (select array_agg(watch.address order by watch.number) from missing
        join chain_watch watch on watch.network = ${network} and watch.from_height = missing.from_height
          and watch.number between missing.watched_from and missing.watched_to
        where missing.heights @> low.height) as addresses
    from low, ends, chain_network
    where chain_network.network = ${network} and low.height is not null`.execute(db)
  return rows[0] ?? null
}

type GapCount = { network: string; ranges: number; heights: number }

/** Heights that several groups of addresses miss count for each. */
export async function countGaps(db: Kysely<Tables>): Promise<GapCount[]> {
  const { rows } = await sql<GapCount>`
    select network, count(block_range)::int as ranges,
      coalesce(sum(upper(block_range) - lower(block_range)), 0)::float8 as heights
    from chain_network left join chain_gap using (network) left join lateral unnest(heights) block_range on true
    group by network order by network`.execute(db)
  return rows
}

export type OpenGaps = {
  network: NetworkName
  /** With the lowest and the highest missing height. */
  ranges: number
  from: bigint
  to: bigint
  addresses: bigint
  since: Date
}

/**
 * Also deletes closed gaps.
 * @returns gaps that have been open since `openSince` or longer
 */
export async function noteGaps(
  tx: Transaction<Tables>,
  network: NetworkName,
  { now, openSince }: { now: Date; openSince: Date },
): Promise<OpenGaps | null> {
  await sql`
    insert into chain_gap_since (network, watched_from, since)
    select network, watched_from, ${now} from chain_gap where network = ${network}
    on conflict (network, watched_from) do nothing`.execute(tx)
  await sql`
    delete from chain_gap_since where network = ${network} and watched_from not in (
      select watched_from from chain_gap where network = ${network}
    )`.execute(tx)
  const { rows } = await sql<OpenGaps>`
    select network, count(*)::int as ranges, min(lower(block_range)) as from, max(upper(block_range)) - 1 as to,
      max(addresses) as addresses, min(since) as since
    from chain_gap, unnest(heights) block_range
    where network = ${network} and since <= ${openSince} group by network`.execute(tx)
  return rows[0] ?? null
}
