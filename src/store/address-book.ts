import { type Kysely, sql } from 'kysely'
import type { Address, Asset, AssetKey, NetworkName } from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import type { Tables } from './tables.ts'

export type WatchedAddress = { address: Address; role: 'deposit' | 'recipient' }

/** Every address whose incoming transfers count on that network, with what it is watched as. */
export async function watchedAddresses(db: Kysely<Tables>, network: NetworkName): Promise<WatchedAddress[]> {
  const rows = await db
    .selectFrom('address_book')
    .select(['address', 'role'])
    .where('network', '=', network)
    .orderBy('address')
    .execute()
  return rows.map(({ address, role }) => ({ address: address as Address, role }))
}

/**
 * Pins the assets of the settings.
 * @throws Fault `settings_bad` where one was pinned with other decimals before: amounts already kept would change.
 */
export async function pinAssets(db: Kysely<Tables>, assets: readonly Asset[]): Promise<void> {
  const { rows } = await sql<{ key: AssetKey; decimals: number; pinned: number }>`
    with wanted as (
      select * from unnest(
        ${assets.map(({ key }) => key)}::text[], ${assets.map(({ network }) => network)}::text[],
        ${assets.map(({ symbol }) => symbol)}::text[], ${assets.map(({ decimals }) => decimals)}::smallint[]
      ) as wanted (key, network, symbol, decimals)
    ), added as (
      insert into asset (key, network, symbol, decimals) select key, network, symbol, decimals from wanted
      on conflict (key) do update set symbol = excluded.symbol where asset.symbol <> excluded.symbol
    )
    select wanted.key, wanted.decimals, asset.decimals as pinned
    from wanted join asset using (key) where asset.decimals <> wanted.decimals`.execute(db)
  if (rows.length === 0) return
  throw new Fault('settings_bad', {
    faults: rows.map(
      ({ key, decimals, pinned }) =>
        `asset ${key} has ${decimals} decimals in the settings and ${pinned} in the database`,
    ),
  })
}
