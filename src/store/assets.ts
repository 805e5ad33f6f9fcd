import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Asset, AssetKey, NetworkSettings } from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import { asTable } from './database.ts'
import type { Tables } from './tables.ts'

/**
 * Until a deposit uses an asset, its decimals follow the settings, so that a wrong number can be fixed there.
 * @throws Fault `settings_bad` if the new decimals would change recorded amounts
 */
export async function pinAssets(db: Kysely<Tables>, assets: readonly Asset[]): Promise<void> {
  await sql`
    insert into asset (key, network, symbol, decimals)
    select * from ${wanted(assets)} order by key
    on conflict (key) do update set symbol = excluded.symbol, decimals = excluded.decimals
      where (asset.symbol, asset.decimals) <> (excluded.symbol, excluded.decimals)
        and (asset.decimals = excluded.decimals or not ${isKept(sql`excluded.key`)})`.execute(db)
  const faults = await pinFaults(db, assets)
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
}

/** Assets with recorded amounts whose decimals differ between the settings and the database. */
export async function pinFaults(db: Kysely<Tables>, assets: readonly Asset[]): Promise<string[]> {
  const { rows } = await sql<{ key: AssetKey; decimals: number; pinned: number }>`
    select wanted.key, wanted.decimals, asset.decimals as pinned
    from ${wanted(assets)} join asset using (key)
    where asset.decimals <> wanted.decimals and ${isKept(sql`asset.key`)} order by key`.execute(db)
  return rows.map(
    ({ key, decimals, pinned }) =>
      `asset ${key} has ${decimals} decimals in the settings and ${pinned} in the database`,
  )
}

/** With pinned assets whose decimals the settings omit. */
export async function pinnedNetworks(
  db: Kysely<Tables>,
  networks: readonly NetworkSettings[],
): Promise<NetworkSettings[]> {
  const open = networks.flatMap(({ unpinned = [] }) => unpinned.map(({ key }): string => key))
  if (open.length === 0) return [...networks]
  const rows = await db.selectFrom('asset').select(['key', 'decimals']).where('key', 'in', open).execute()
  const pins = new Map(rows.map(({ key, decimals }) => [key, decimals]))
  return networks.map((network) => {
    const { unpinned = [] } = network
    const found = unpinned.flatMap((label): Asset[] => {
      const decimals = pins.get(label.key)
      return decimals === undefined ? [] : [{ ...label, decimals }]
    })
    return {
      ...network,
      assets: [...network.assets, ...found],
      unpinned: unpinned.filter(({ key }) => !pins.has(key)),
    }
  })
}

/** Of pinned assets, and `asked` if it has a deposit or a mismatch. */
export async function networksKnown(db: Kysely<Tables>, asked: string): Promise<string[]> {
  const { rows } = await sql<{ network: string }>`
    select network from asset
    union select ${asked} where exists (select from deposit where network = ${asked})
      or exists (select from mismatch where network = ${asked})`.execute(db)
  return rows.map(({ network }) => network)
}

/** By key. */
export type AssetNames = ReadonlyMap<string, { symbol: string; network: string; decimals: number }>

export async function readAssetNames(db: Kysely<Tables>): Promise<AssetNames> {
  const rows = await db.selectFrom('asset').selectAll().execute()
  return new Map(rows.map(({ key, ...names }) => [key, names]))
}

function wanted(assets: readonly Asset[]) {
  return asTable('wanted', assets, 'key text, network text, symbol text, decimals smallint')
}

function isKept(key: ReturnType<typeof sql>) {
  return sql`exists (select from deposit where ${key} in (deposit.asset, deposit.settlement_asset))`
}

/** By key. */
export type NamedAssets = Record<string, { symbol: string; network: string; decimals: number }>

/** Those whose keys occur in a text, as one JSON object. */
export function assetsIn(text: RawBuilder<unknown>): RawBuilder<NamedAssets> {
  return sql`(
    select coalesce(jsonb_object_agg(named.key, jsonb_build_object(
      'symbol', named.symbol, 'network', named.network, 'decimals', named.decimals)), '{}')
    from asset named where strpos(${text}, named.key) > 0)`
}
