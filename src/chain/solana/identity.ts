import type { Asset } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { mapBounded } from '../map-bounded.ts'
import { rpcSetting } from '../options.ts'
import type { NetworkSettings } from '../types.ts'
import { readDecimals } from './accounts.ts'
import { ask, type SolanaNode } from './node.ts'

/** From the settings, or from the first node that answered; null until then. */
export type Cluster = { genesis: string | null }

/** Each with the genesis hash. */
export async function identityFaults(
  { node, cluster, atOnce }: { node: SolanaNode; cluster: Cluster; atOnce: number },
  settings: NetworkSettings,
): Promise<string[]> {
  const wrong = await clusterFaults(node, settings, cluster)
  if (wrong.length > 0) return wrong
  const faults = await mapBounded(settings.assets, atOnce, (asset) => mintFaults(node, asset))
  return faults.flat().map((fault) => `${fault} (${node.name}, genesis ${cluster.genesis})`)
}

/** @throws Fault `settings_bad` if a node is of another cluster */
export async function requireCluster(
  node: SolanaNode,
  settings: NetworkSettings,
  cluster: Cluster,
): Promise<void> {
  const faults = await clusterFaults(node, settings, cluster)
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
}

async function clusterFaults(
  node: SolanaNode,
  { name }: NetworkSettings,
  cluster: Cluster,
): Promise<string[]> {
  const found = await ask(node, 'genesis hash', (rpc) => rpc.getGenesisHash().send())
  cluster.genesis ??= found
  return found === cluster.genesis
    ? []
    : [`${rpcSetting(name)}: expected genesis hash ${cluster.genesis}, found ${found} (${node.name})`]
}

async function mintFaults(node: SolanaNode, { key, symbol, decimals }: Asset): Promise<string[]> {
  const found = await readDecimals(node, key)
  if (found === decimals) return []
  return [`asset ${symbol} (${key}): expected decimals ${decimals}, found ${found ?? 'no mint'}`]
}
