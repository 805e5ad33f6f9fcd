import preset from '@openzeppelin/contracts/build/contracts/ERC20PresetMinterPauser.json' with {
  type: 'json',
}
import { type Address as EvmAddress, encodeDeployData, getContractAddress, type Hex, parseAbi } from 'viem'
import { assert } from '../core/errors.ts'
import type { EvmClient } from './evm-client.ts'

export const tokenAbi = parseAbi([
  'constructor(string name, string symbol)',
  'function mint(address to, uint256 amount)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
  'function decimals() view returns (uint8)',
])

export type TestToken = { symbol: string; name: string }

/** In the order of deployment, which determines each address. */
export const testTokens = [
  { symbol: 'USDC', name: 'USD Coin (test)' },
  { symbol: 'USDT', name: 'Tether USD (test)' },
] as const satisfies readonly TestToken[]

export const tokenDecimals = 6

/**
 * Deploys the test tokens that are missing. The deployer sends no transaction before them, so the addresses are the
 * same on every chain and machine. Only the deployer may mint.
 */
export async function deployTokens(client: EvmClient, deployer: EvmAddress): Promise<EvmAddress[]> {
  const addresses = tokenAddresses(deployer)
  const codes = await Promise.all(addresses.map((address) => client.getCode({ address })))
  for (const [place, token] of testTokens.entries()) {
    if (codes[place] === undefined) await sendDeployment(client, { deployer, token, nonce: place })
  }
  if (codes.includes(undefined)) await client.mine({ blocks: 1 })
  for (const address of addresses) {
    const decimals = await client.readContract({ address, abi: tokenAbi, functionName: 'decimals' })
    assert(decimals === tokenDecimals, `test token ${address} has ${tokenDecimals} decimals`)
  }
  return addresses
}

/** The addresses of the tokens on every chain with this deployer. */
export function tokenAddresses(deployer: EvmAddress): EvmAddress[] {
  return testTokens.map((_token, place) => getContractAddress({ from: deployer, nonce: BigInt(place) }))
}

type Deployment = { deployer: EvmAddress; token: TestToken; nonce: number }

async function sendDeployment(client: EvmClient, { deployer, token, nonce }: Deployment): Promise<void> {
  const data = encodeDeployData({
    abi: tokenAbi,
    bytecode: tokenBytecode(),
    args: [token.name, token.symbol],
  })
  await client.sendTransaction({ account: deployer, data, nonce })
}

/** Stores the return value 18 (`6012`) at the free memory pointer, followed by the opcodes of the return. */
const decimalsBody = '60405160128152602001'

/** The preset's `decimals()` always returns 18; the tokens that it stands for have 6. */
function tokenBytecode(): Hex {
  const parts = preset.bytecode.split(decimalsBody)
  assert(parts.length === 2, 'the body of decimals() occurs once in the preset')
  return parts.join(decimalsBody.replace('12', '06')) as Hex
}
