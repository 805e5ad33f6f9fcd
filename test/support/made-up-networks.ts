import type { NetworkName, NetworkSettings } from '../../src/core/asset.ts'

/** A network of the made-up world, which no node reads. */
export function evmNetwork(name: string): NetworkSettings {
  return { name: name as NetworkName, family: 'evm', chainId: 1, rpcUrls: [], assets: [] }
}
