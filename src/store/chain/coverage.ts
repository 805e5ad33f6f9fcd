import { type Kysely, sql, type Transaction } from 'kysely'
import type { AssetKey, NetworkName } from '../../core/asset.ts'
import type { Tables } from '../tables.ts'

/** Heights, both ends included. */
export type CoverageRange = { from: bigint; to: bigint }

/** Up to where a network was read as final, and the assets that are read on it, sorted. */
export type NetworkReadState = { assets: readonly AssetKey[]; height: bigint }

export type Coverage = {
  /** All addresses numbered up to this one were read, as far as they are wanted. */
  watched: number
  assets: readonly AssetKey[]
  proved: readonly CoverageRange[]
}

/** Null where the network was never read. */
export async function readStanding(
  db: Kysely<Tables>,
  network: NetworkName,
): Promise<NetworkReadState | null> {
  const { rows } = await sql<NetworkReadState>`
    select assets, height from chain_network where network = ${network}`.execute(db)
  return rows[0] ?? null
}

export async function saveStanding(
  tx: Transaction<Tables>,
  network: NetworkName,
  { assets, height }: NetworkReadState,
): Promise<void> {
  await sql`
    insert into chain_network (network, assets, height) values (${network}, ${assets}::text[], ${height})
    on conflict (network) do update set assets = excluded.assets, height = excluded.height`.execute(tx)
}

/** States that heights were read. Only together with what was found there, in one transaction. */
export async function addCoverage(
  tx: Transaction<Tables>,
  network: NetworkName,
  { watched, assets, proved }: Coverage,
): Promise<void> {
  if (watched === 0 || proved.length === 0) return
  await sql`
    insert into chain_coverage (network, watched, assets, heights)
    select ${network}, ${watched}::integer, ${assets}::text[], range_agg(int8range(stretch.low, stretch.high, '[]'))
    from unnest(${proved.map(({ from }) => from)}::bigint[], ${proved.map(({ to }) => to)}::bigint[])
      as stretch (low, high)
    on conflict (network, watched, assets) do update set heights = chain_coverage.heights + excluded.heights`.execute(
    tx,
  )
  await carryOver(tx, network, { watched, assets })
  await dropContained(tx, network)
}

/** Takes back that heights were read; `to` is null for all from there on. */
export async function withdrawCoverage(
  tx: Transaction<Tables>,
  network: NetworkName,
  { from, to }: { from: bigint; to: bigint | null },
): Promise<void> {
  const stretch = sql`int8multirange(int8range(${from}::bigint, ${to}::bigint, '[]'))`
  await sql`
    update chain_coverage set heights = heights - ${stretch}
    where network = ${network} and heights && ${stretch}`.execute(tx)
  await sql`delete from chain_coverage where network = ${network} and isempty(heights)`.execute(tx)
}

/** Where an address that came later is not wanted yet, what was read for the earlier ones is all there is to read. */
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

/** Of what two rows state, the one that states more is enough. */
async function dropContained(tx: Transaction<Tables>, network: NetworkName): Promise<void> {
  await sql`
    delete from chain_coverage gone using chain_coverage kept
    where gone.network = ${network} and kept.network = ${network}
      and kept.watched >= gone.watched and kept.assets @> gone.assets and kept.heights @> gone.heights
      and (kept.watched, kept.assets) <> (gone.watched, gone.assets)`.execute(tx)
}
