import type { Asset, NetworkSettings } from '../core/asset.ts'

export const stableAsset = { symbol: 'USDC', decimals: 6 } as const

export function findNetwork(networks: readonly NetworkSettings[], name: string): NetworkSettings | null {
  return networks.find((network) => network.name === name) ?? null
}

export function findAsset(
  networks: readonly NetworkSettings[],
  network: string,
  symbol: string,
): Asset | null {
  return findNetwork(networks, network)?.assets.find((asset) => asset.symbol === symbol) ?? null
}
