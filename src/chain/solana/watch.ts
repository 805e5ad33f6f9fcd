import { address, type Address as KitAddress } from '@solana/kit'
import { type Address, type AssetKey, assetCode, type NetworkName } from '../../core/asset.ts'
import type { ReaderBounds } from '../options.ts'
import type { NetworkSettings } from '../types.ts'
import type { SolanaReadStrategy } from './choose-way.ts'
import type { SolanaMemory } from './memory.ts'
import type { SolanaNode } from './node.ts'

/** The watched changes of one network: balances of these assets, for these owners. */
export type SolanaWatch = {
  network: NetworkName
  mints: ReadonlyMap<Address, AssetKey>
  /** The network's own coin; null if it is not among the assets. */
  native: AssetKey | null
  owners: ReadonlySet<Address>
}

/** One scan on one node. */
export type SolanaScan = {
  node: SolanaNode
  watch: SolanaWatch
  bounds: ReaderBounds
  memory: SolanaMemory
  /** The reading strategy; null chooses by cost. */
  way: SolanaReadStrategy | null
}

export function watchOf(settings: NetworkSettings, owners: ReadonlySet<Address>): SolanaWatch {
  const mints = new Map<Address, AssetKey>()
  let native: AssetKey | null = null
  for (const { key } of settings.assets) {
    const code = assetCode(key)
    if (code === 'native') native = key
    else mints.set(code, key)
  }
  return { network: settings.name, mints, native, owners }
}

/** Casts a checked address to the library's type. */
export function toKit(checked: Address): KitAddress {
  return address(checked)
}
