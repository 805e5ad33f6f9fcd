import { BaseError, type Client, RpcRequestError } from 'viem'
import { getChainId } from 'viem/actions'
import { type Asset, assetCode } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { mapBounded } from '../map-bounded.ts'
import { rpcSetting } from '../options.ts'
import type { NetworkSettings } from '../port.ts'
import { ask, type EvmNode } from './node.ts'

/** The faults in what a node says it is; none where it is the chain that the settings mean. */
export async function identityFaults(
  node: EvmNode,
  settings: NetworkSettings,
  atOnce: number,
): Promise<string[]> {
  const chain = await chainFaults(node, settings)
  if (chain.length > 0) return chain
  const decimals = await mapBounded(settings.assets, atOnce, (asset) => decimalsFaults(node, asset))
  return decimals.flat()
}

/** Asks once, and again after each failure of the node, for behind its URL may now be another. */
export async function requireChain(node: EvmNode, settings: NetworkSettings): Promise<void> {
  if (node.chainChecked) return
  const faults = await chainFaults(node, settings)
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
  node.chainChecked = true
}

async function chainFaults(node: EvmNode, { name, chainId }: NetworkSettings): Promise<string[]> {
  const found = await ask(node, 'chain id', getChainId)
  return found === chainId
    ? []
    : [`${rpcSetting(name)}: expected chain id ${chainId}, found ${found} (${node.name})`]
}

async function decimalsFaults(node: EvmNode, { key, symbol, decimals }: Asset): Promise<string[]> {
  const code = assetCode(key)
  if (code === 'native') return []
  const found = await ask(node, `decimals of ${key}`, (client) => readDecimals(client, code as `0x${string}`))
  return found === BigInt(decimals)
    ? []
    : [
        `asset ${symbol} (${key}): expected decimals ${decimals}, found ${found ?? 'no token contract'} (${node.name})`,
      ]
}

/** The selector of `decimals()`. */
const decimalsCall = '0x313ce567'

/** Null where nothing at the address answers the call. */
async function readDecimals(client: Client, contract: `0x${string}`): Promise<bigint | null> {
  try {
    const answer = await client.request({
      method: 'eth_call',
      params: [{ to: contract, data: decimalsCall }, 'latest'],
    })
    return /^0x[0-9a-f]{64}$/i.test(answer) ? BigInt(answer) : null
  } catch (error) {
    if (isRevert(error)) return null
    throw error
  }
}

function isRevert(error: unknown): boolean {
  const rpc = error instanceof BaseError ? error.walk((inner) => inner instanceof RpcRequestError) : null
  return rpc instanceof RpcRequestError && (rpc.code === 3 || /revert/i.test(rpc.details))
}
