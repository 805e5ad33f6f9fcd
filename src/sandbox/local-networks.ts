import { createSolanaRpc, isAddress as isSolanaAddress } from '@solana/kit'
import { isAddress as isEvmAddress } from 'viem'
import {
  type Address,
  type Asset,
  assetKey,
  type Family,
  type NetworkName,
  type NetworkSettings,
  parseAddress,
} from '../core/asset.ts'
import {
  type EvmAccounts,
  type EvmClient,
  evmFaucet,
  nodeAccounts,
  openEvmClient,
  tokenAddresses,
} from './evm-faucet.ts'
import { type Faucet, testTokens, tokenDecimals } from './faucet.ts'
import { type SandboxSolanaRpc, type SolanaSigners, solanaFaucet, solanaSigners } from './solana-faucet.ts'

export type SandboxNetwork = NetworkSettings & Faucet

/** The same ports on every start if they are free, so that settings of clients stay valid. */
export const evmNetworks = [
  { name: 'mainnet' as NetworkName, chainId: 1, port: 18_545 },
  { name: 'base' as NetworkName, chainId: 8453, port: 18_546 },
  { name: 'arbitrum' as NetworkName, chainId: 42_161, port: 18_547 },
]
export const solana = { name: 'solana' as NetworkName, port: 18_899 }

/** @throws Error if the node does not respond */
export async function openNetwork(name: string, url: string): Promise<SandboxNetwork> {
  const evm = evmNetworks.find((network) => network.name === name)
  if (evm === undefined) {
    const rpc = createSolanaRpc(url)
    await rpc.getSlot().send()
    return solanaNetwork(rpc, url, await solanaSigners())
  }
  const client = openEvmClient(url, evm.chainId)
  return evmNetwork(evm, { client, url, accounts: await nodeAccounts(client) })
}

/** Mixed case carries a checksum, which must be right. */
export function isAddressOn({ family }: SandboxNetwork, text: string): boolean {
  return family === 'evm' ? isEvmAddress(text) : isSolanaAddress(text)
}

export function evmNetwork(
  { name, chainId }: { name: NetworkName; chainId: number },
  { client, url, accounts }: { client: EvmClient; url: string; accounts: EvmAccounts },
): SandboxNetwork {
  const tokens = tokenAddresses(accounts.deployer)
  const assets = listAssets('evm', { name, native: { symbol: 'ETH', decimals: 18 }, tokens })
  return { name, family: 'evm', chainId, rpcUrls: [url], assets, ...evmFaucet(client, accounts) }
}

export function solanaNetwork(rpc: SandboxSolanaRpc, url: string, signers: SolanaSigners): SandboxNetwork {
  const { name } = solana
  const tokens = signers.mints.map(({ address }) => address)
  const assets = listAssets('solana', { name, native: { symbol: 'SOL', decimals: 9 }, tokens })
  return { name, family: 'solana', chainId: null, rpcUrls: [url], assets, ...solanaFaucet(rpc, signers) }
}

type LocalAssetList = {
  name: NetworkName
  native: Pick<Asset, 'symbol' | 'decimals'>
  /** In the order of the test tokens. */
  tokens: readonly string[]
}

function listAssets(family: Family, { name, native, tokens }: LocalAssetList): Asset[] {
  const addresses: Address[] = tokens.map((token) => parseAddress(family, token))
  return [
    { key: assetKey(name, 'native'), network: name, ...native },
    ...addresses.map((address, place) => ({
      key: assetKey(name, address),
      network: name,
      symbol: testTokens[place]?.symbol ?? '',
      decimals: tokenDecimals,
    })),
  ]
}
