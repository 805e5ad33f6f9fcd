import type { Asset } from '../../core/asset.ts'
import { mapBounded } from '../map-bounded.ts'
import type { NetworkSettings } from '../port.ts'
import { readDecimals } from './decimals.ts'
import { ask, type SolanaNode } from './node.ts'

/** What is off about the mints, with the genesis hash that tells the cluster; none where all is well. */
export async function identityFaults(
  node: SolanaNode,
  settings: NetworkSettings,
  atOnce: number,
): Promise<string[]> {
  const genesis = await ask(node, 'genesis hash', (rpc) => rpc.getGenesisHash().send())
  const faults = await mapBounded(settings.assets, atOnce, (asset) => mintFaults(node, asset))
  return faults.flat().map((fault) => `${fault} (${node.name}, genesis ${genesis})`)
}

async function mintFaults(node: SolanaNode, { key, symbol, decimals }: Asset): Promise<string[]> {
  const found = await readDecimals(node, key)
  if (found === decimals) return []
  return [`asset ${symbol} (${key}): expected decimals ${decimals}, found ${found ?? 'no mint'}`]
}
