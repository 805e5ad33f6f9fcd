import { type Address, type AssetKey, assetCode, type NetworkName } from '../../core/asset.ts'
import { type Bounds, defaultReading } from '../options.ts'
import type { NetworkSettings } from '../port.ts'
import type { Finality } from './finality.ts'
import type { EvmNode } from './node.ts'

/** What counts on one network: transfers of these assets to these addresses. */
export type EvmWatch = {
  network: NetworkName
  /** Token contracts and their assets. A log of any other contract says nothing. */
  contracts: ReadonlyMap<Address, AssetKey>
  /** The network's own coin; null where it is not among the assets. */
  native: AssetKey | null
  recipients: ReadonlySet<Address>
  finality: Finality
}

/** One scan on one node. */
export type EvmScan = { node: EvmNode; watch: EvmWatch; bounds: Bounds }

export function watchOf(settings: NetworkSettings, recipients: ReadonlySet<Address>): EvmWatch {
  const contracts = new Map<Address, AssetKey>()
  let native: AssetKey | null = null
  for (const { key } of settings.assets) {
    const code = assetCode(key)
    if (code === 'native') native = key
    else contracts.set(code, key)
  }
  const { finality } = settings.reading ?? defaultReading
  return { network: settings.name, contracts, native, recipients, finality }
}
