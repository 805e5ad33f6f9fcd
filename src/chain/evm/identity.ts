import { BaseError, type Client, RpcRequestError } from 'viem'
import { getChainId } from 'viem/actions'
import { type Asset, type AssetKey, assetCode, nativeDecimals } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { mapBounded } from '../map-bounded.ts'
import { rpcSetting } from '../options.ts'
import type { NetworkSettings } from '../types.ts'
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
  return [
    `asset ${symbol} (${key}): expected decimals ${decimals}, found ${found ?? 'no token contract'} (${node.name})`,
  ]
}

/** The decimals that a node reports for an asset; null if there is no token at its address. */
export async function readDecimals(node: EvmNode, key: AssetKey): Promise<number | null> {
  const code = assetCode(key)
  if (code === 'native') return nativeDecimals.evm
  return ask(node, `decimals of ${key}`, (client) => callDecimals(client, code as `0x${string}`))
}

/** The selector of `decimals()`. */
const decimalsCall = '0x313ce567'

/** The largest value of a `uint8`; a larger answer is not a number of decimals. */
const decimalsMax = 255n

async function callDecimals(client: Client, contract: `0x${string}`): Promise<number | null> {
  try {
    const params = [{ to: contract, data: decimalsCall }, 'latest'] as const
    const answer = await client.request({ method: 'eth_call', params: [...params] })
    if (!/^0x[0-9a-f]{64}$/i.test(answer) || BigInt(answer) > decimalsMax) return null
    return Number(BigInt(answer))
  } catch (error) {
    if (isRevert(error)) return null
    throw error
  }
}

function isRevert(error: unknown): boolean {
  const rpc = error instanceof BaseError ? error.walk((inner) => inner instanceof RpcRequestError) : null
  return rpc instanceof RpcRequestError && (rpc.code === 3 || /revert/i.test(rpc.details))
}
