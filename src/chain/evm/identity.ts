import { getChainId } from 'viem/actions'
import type { Asset } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { mapBounded } from '../map-bounded.ts'
import { rpcSetting } from '../options.ts'
import type { NetworkSettings } from '../types.ts'
import { readDecimals } from './decimals.ts'
import { finalityFaults } from './finality.ts'
import { ask, type EvmNode } from './node.ts'
import { traceFaults } from './traces.ts'

/** The differences between a node and the settings of its chain; empty if there are none. */
export async function identityFaults(
  node: EvmNode,
  settings: NetworkSettings,
  atOnce: number,
): Promise<string[]> {
  const chain = await chainFaults(node, settings)
  if (chain.length > 0) return chain
  const finality = await finalityFaults(node, settings)
  const traces = await traceFaults(node, settings)
  const decimals = await mapBounded(settings.assets, atOnce, (asset) => decimalsFaults(node, asset))
  return [...finality, ...traces, ...decimals.flat()]
}

/** @throws Fault `settings_bad` if the node is of another chain */
export async function requireChain(node: EvmNode, settings: NetworkSettings): Promise<void> {
  const faults = await chainFaults(node, settings)
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
}

async function chainFaults(node: EvmNode, { name, chainId }: NetworkSettings): Promise<string[]> {
  const found = await ask(node, 'chain id', getChainId)
  return found === chainId
    ? []
    : [`${rpcSetting(name)}: expected chain id ${chainId}, found ${found} (${node.name})`]
}

async function decimalsFaults(node: EvmNode, { key, symbol, decimals }: Asset): Promise<string[]> {
  const found = await readDecimals(node, key)
  if (found === decimals) return []
  const said = found ?? 'no token contract'
  return [`asset ${symbol} (${key}): expected decimals ${decimals}, found ${said} (${node.name})`]
}
