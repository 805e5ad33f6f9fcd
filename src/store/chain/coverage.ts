import { type Kysely, sql, type Transaction } from 'kysely'
import type { AssetKey, NetworkName } from '../../core/asset.ts'
import type { Tables } from '../tables.ts'

/** A block or slot range, both ends included. */
export type CoverageRange = { from: bigint; to: bigint }

/** Height up to which a network was read as final, and the assets that are read on it, sorted. */
export type NetworkReadState = { assets: readonly AssetKey[]; height: bigint }

export type Coverage = {
  /** All addresses up to this number were read, from their first watched height on. */
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

/** Records that ranges were read. Call it only in the transaction that stores what was found there. */
export async function addCoverage(
  tx: Transaction<Tables>,
  network: NetworkName,
  { watched, assets, proved }: Coverage,
): Promise<void> {
  if (watched === 0 || proved.length === 0) return
  await sql`
    insert into chain_coverage (network, watched, assets, heights)
    select ${network}, ${watched}::integer, ${assets}::text[], range_agg(int8range(block_range.low, block_range.high, '[]'))
    from unnest(${proved.map(({ from }) => from)}::bigint[], ${proved.map(({ to }) => to)}::bigint[])
      as block_range (low, high)
    on conflict (network, watched, assets) do update set heights = chain_coverage.heights + excluded.heights`.execute(
    tx,
  )
  await carryOver(tx, network, { watched, assets })
  await dropContained(tx, network)
}

/** Withdraws the coverage of a range; `to` is null for everything from `from` on. */
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

/** At heights at which a later address is not watched yet, the coverage of the earlier ones is complete. */
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

/** Deletes rows whose coverage another row contains. */
async function dropContained(tx: Transaction<Tables>, network: NetworkName): Promise<void> {
  await sql`
    delete from chain_coverage gone using chain_coverage kept
    where gone.network = ${network} and kept.network = ${network}
      and kept.watched >= gone.watched and kept.assets @> gone.assets and kept.heights @> gone.heights
      and (kept.watched, kept.assets) <> (gone.watched, gone.assets)`.execute(tx)
}
