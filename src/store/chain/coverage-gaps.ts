import { type Kysely, sql, type Transaction } from 'kysely'
import type { Address, AssetKey, NetworkName } from '../../core/asset.ts'
import type { Tables } from '../tables.ts'
import type { CoverageRange } from './coverage.ts'

/**
 * A range that was read for all addresses except these, and the coverage that it adds once it is read for these, too.
 */
export type Gap = CoverageRange & {
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

/** Per network that is read, the number of ranges that some of its addresses miss. */
export async function countGaps(db: Kysely<Tables>): Promise<{ network: string; ranges: number }[]> {
  const { rows } = await sql<{ network: string; ranges: number }>`
    select network, count(block_range)::int as ranges
    from chain_network left join chain_gap using (network) left join lateral unnest(heights) block_range on true
    group by network order by network`.execute(db)
  return rows
}

export type OpenGaps = {
  network: NetworkName
  /** Number of ranges, and the lowest and the highest missing height. */
  ranges: number
  from: bigint
  to: bigint
  addresses: bigint
  since: Date
}

/**
 * Records the gaps that are open now, and deletes closed ones.
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
