import type { Hex } from 'viem'
import { type AssetKey, assetCode, nativeDecimals } from '../../core/asset.ts'
import { StatedError } from '../json-rpc.ts'
import { rpcSetting } from '../options.ts'
import type { NetworkSettings } from '../types.ts'
import { ask, type EvmNode, type EvmRequest } from './node.ts'

/** Empty if the node is of the right chain. */
export async function chainFaults(node: EvmNode, { name, chainId }: NetworkSettings): Promise<string[]> {
  const found = Number(await ask(node, 'chain id', (request) => request({ method: 'eth_chainId' })))
  return found === chainId
    ? []
    : [`${rpcSetting(name)}: expected chain id ${chainId}, found ${found} (${node.name})`]
}

/** Null if there is no token at its address. */
export async function readDecimals(node: EvmNode, key: AssetKey): Promise<number | null> {
  const code = assetCode(key)
  if (code === 'native') return nativeDecimals.evm
  return ask(node, `decimals of ${key}`, (request) => callDecimals(request, code as Hex))
}

/** The selector of `decimals()`. */
const decimalsCall = '0x313ce567'

/** The largest `uint8`. */
const decimalsMax = 255n

async function callDecimals(request: EvmRequest, contract: Hex): Promise<number | null> {
  try {
    const call = { to: contract, data: decimalsCall } as const
    const answer = await request({ method: 'eth_call', params: [call, 'latest'] })
    if (!/^0x[0-9a-f]{64}$/i.test(answer) || BigInt(answer) > decimalsMax) return null
    return Number(BigInt(answer))
  } catch (error) {
    const isRevert = error instanceof StatedError && (error.code === 3 || /revert/i.test(error.message))
    if (isRevert) return null
    throw error
  }
}
