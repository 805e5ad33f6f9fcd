import { BaseError, type Client, RpcRequestError } from 'viem'
import { type AssetKey, assetCode, nativeDecimals } from '../../core/asset.ts'
import { ask, type EvmNode } from './node.ts'

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
