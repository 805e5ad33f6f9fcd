import {
  type Address,
  type AssetKey,
  assetCode,
  type NetworkName,
  type NetworkReading,
} from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { defaultReading, type ReaderBounds } from '../options.ts'
import type { NetworkSettings } from '../types.ts'
import type { EvmNode } from './node.ts'

export type EvmWatch = {
  network: NetworkName
  contracts: ReadonlyMap<Address, AssetKey>
  /** Null if it is not among the assets. */
  native: AssetKey | null
  recipients: ReadonlySet<Address>
  finality: Finality
  /** For payments by contracts. */
  traced: boolean
}

export type EvmScan = { node: EvmNode; watch: EvmWatch; bounds: ReaderBounds }

/** @throws Fault `settings_bad` if the EIP-7708 address of the native coin is configured as a token */
export function watchOf(settings: NetworkSettings, recipients: ReadonlySet<Address>): EvmWatch {
  const contracts = new Map<Address, AssetKey>()
  let native: AssetKey | null = null
  for (const { key } of settings.assets) {
    const code = assetCode(key)
    if (code === coinEmitter) {
      const problem = 'is the address that logs movements of the native coin (EIP-7708), not a token'
      throw new Fault('settings_bad', { faults: [`networks: ${settings.name}: assets: ${code} ${problem}`] })
    }
    if (code === 'native') native = key
    else contracts.set(code, key)
  }
  const { finality, traces } = settings.reading ?? defaultReading
  const traced = traces === 'always'
  return { network: settings.name, contracts, native, recipients, finality, traced }
}

/** EIP-7708: writes a Transfer log for each movement of the native coin, never of a token. */
export const coinEmitter = '0xfffffffffffffffffffffffffffffffffffffffe' as Address

export type Finality = NetworkReading['finality']
