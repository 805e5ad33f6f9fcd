import {
  type Asset,
  type AssetKey,
  assetKey,
  type NetworkName,
  type NetworkSettings,
  parseAddress,
} from '../../core/asset.ts'
import { shownValue } from './find-field.ts'

export type Vocabulary = { networks: readonly NetworkSettings[]; creditAsset: Asset }

export type NetworkAssets = Pick<NetworkSettings, 'name' | 'family'> & {
  byKey: ReadonlyMap<AssetKey, Asset>
  bySymbol: ReadonlyMap<string, readonly Asset[]>
}

export function knownNetworks({ networks }: Vocabulary): ReadonlyMap<string, NetworkAssets> {
  return new Map(
    networks.map(({ name, family, assets }) => [
      name,
      {
        name,
        family,
        byKey: new Map(assets.map((asset) => [asset.key, asset])),
        bySymbol: Map.groupBy(assets, ({ symbol }) => symbol),
      },
    ]),
  )
}

export type AssetLookup = { asset: Asset } | { problem: string }

export function assetBySymbol({ name, bySymbol }: NetworkAssets, symbol: string): AssetLookup {
  const [asset, other] = bySymbol.get(symbol) ?? []
  const shown = shownValue({ path: '', text: symbol })
  if (asset === undefined) return { problem: `unknown asset ${shown} on ${name}` }
  return other === undefined ? { asset } : { problem: `several assets on ${name} are called ${shown}` }
}

/**
 * `native` is the network's native coin.
 * @throws Fault `address_malformed`
 */
export function assetByContract({ name, family, byKey }: NetworkAssets, contract: string): AssetLookup {
  const code = contract === 'native' ? contract : parseAddress(family, contract)
  const key = assetKey(name, code)
  const asset = byKey.get(key)
  return asset === undefined ? { problem: `unknown asset ${key}` } : { asset }
}

/** `USDC` or a contract, optionally preceded by the network. */
export type ProfileAssetName = { network: NetworkName | null; name: string }

export function parseAssetName(text: string): ProfileAssetName {
  const slash = text.indexOf('/')
  if (slash === -1) return { network: null, name: text }
  return { network: text.slice(0, slash) as NetworkName, name: text.slice(slash + 1) }
}

export function assetByName(network: NetworkAssets, name: string): AssetLookup {
  return network.bySymbol.has(name) ? assetBySymbol(network, name) : assetByContract(network, name)
}
