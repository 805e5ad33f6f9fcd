import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { knownNetworks } from '../../../src/config/known-networks.ts'
import { assetsOf } from '../../../src/config/network-schema.ts'
import type { Asset, AssetKey, NetworkName, NetworkSettings } from '../../../src/core/asset.ts'
import { createClaimReader } from '../../../src/provider/read-claim.ts'
import { profileOf } from '../../support/profile.ts'

const networks = knownNetworks.map((entry): NetworkSettings => {
  const { family, chainId } = entry
  return { name: entry.name as NetworkName, family, chainId, rpcUrls: [], assets: assetsOf(entry) }
})
const creditAsset: Asset = {
  key: 'stable-wallet/USDC' as AssetKey,
  network: 'stable-wallet' as NetworkName,
  symbol: 'USDC',
  decimals: 6,
}
export const receivedAt = new Date('2026-12-01T00:00:00Z')

/** A payload of the folder `fixtures`, in the shape that the documents of a provider give. */
export function sample(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, `fixtures/${name}.json`), 'utf8'))
}

/** Reads a document with a built-in profile, on the built-in networks. */
export function read(name: string, source: 'webhook' | 'api', document: unknown) {
  const readClaim = createClaimReader(profileOf(name), { networks, creditAsset })
  return readClaim({ source, body: Buffer.from(JSON.stringify(document)), receivedAt })
}
