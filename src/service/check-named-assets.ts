import { sql } from 'kysely'
import type { NetworkSettings } from '../chain/port.ts'
import { type AssetCode, assetCode, type NetworkName } from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import { findNetwork } from './catalog.ts'
import type { ServiceDatabase } from './tables.ts'

/** An asset by its symbol or, where that is null, by its code, and how many name it, of which one is told. */
type AssetUsage = {
  by: string
  network: NetworkName
  symbol: string | null
  code: AssetCode | null
  count: number
  example: string
}

/**
 * Makes sure that the settings still have every network and asset that a channel, an open deposit or an open
 * withdrawal names: what is on its way could not be paid, and no payment to such a channel could be recorded.
 * @throws Fault `settings_bad`
 */
export async function checkNamedAssets(
  db: ServiceDatabase,
  networks: readonly NetworkSettings[],
): Promise<void> {
  const lacking = (await namedAssets(db)).filter((named) => !isKnown(networks, named))
  if (lacking.length > 0) throw new Fault('settings_bad', { faults: lacking.map(tell) })
}

async function namedAssets(db: ServiceDatabase): Promise<readonly AssetUsage[]> {
  const { rows } = await sql<AssetUsage>`
    with open as (
      select * from service.deposit
      where status in ('detected', 'confirmed', 'converting', 'forwarding', 'held', 'refunding')),
    named (by, network, symbol, code, id) as (
      select 'channels', forward_network, forward_asset, null, id from service.owner where kind = 'channel'
      union all select 'open deposits', network, null, coalesce(contract, 'native'), id from open
      union all select 'open deposits', to_network, null, coalesce(to_contract, 'native'), id from open
      where to_network is not null
      union all select 'open withdrawals', network, null, asset, id from service.withdrawal
      where status in ('requested', 'sending'))
    select by, network, symbol, code, count(*)::integer as count, min(id) as example
    from named group by by, network, symbol, code order by by, network, symbol, code`.execute(db)
  return rows
}

function isKnown(networks: readonly NetworkSettings[], { network, symbol, code }: AssetUsage): boolean {
  const assets = findNetwork(networks, network)?.assets ?? []
  return assets.some((asset) => (symbol === null ? assetCode(asset.key) === code : asset.symbol === symbol))
}

function tell({ by, network, symbol, code, count, example }: AssetUsage): string {
  return `${count} ${by} name the asset ${symbol ?? code} of network ${network}, which the settings lack (${example} is one)`
}
