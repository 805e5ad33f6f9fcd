import type { Family } from '../core/asset.ts'

/** `contract` is `native` for the network's own coin. */
export type NetworkEntry = {
  name: string
  family: Family
  chainId: number | null
  genesisHash?: string | undefined
  /** Omitted decimals are read from the chain. */
  explorer?: string | undefined
  assets: readonly { symbol: string; contract: string; decimals?: number | undefined }[]
}

const ether = { symbol: 'ETH', contract: 'native', decimals: 18 }
const wrappedEther = (contract: string) => ({ symbol: 'WETH', contract, decimals: 18 })

/**
 * Contracts as their issuers publish them (Circle, Tether, Base, Arbitrum and Wormhole bridges); native and bridged
 * USDC are different assets. Decimals are checked against the chain before anything is read.
 */
export const knownNetworks: readonly NetworkEntry[] = [
  {
    name: 'mainnet',
    family: 'evm',
    chainId: 1,
    explorer: 'https://etherscan.io/tx/{tx}',
    assets: [
      ether,
      wrappedEther('0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'),
      { symbol: 'USDC', contract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', decimals: 6 },
      { symbol: 'USDT', contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7', decimals: 6 },
    ],
  },
  {
    name: 'base',
    family: 'evm',
    chainId: 8453,
    explorer: 'https://basescan.org/tx/{tx}',
    assets: [
      ether,
      wrappedEther('0x4200000000000000000000000000000000000006'),
      { symbol: 'USDC', contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', decimals: 6 },
      { symbol: 'USDbC', contract: '0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA', decimals: 6 },
      { symbol: 'USDT', contract: '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2', decimals: 6 },
    ],
  },
  {
    name: 'arbitrum',
    family: 'evm',
    chainId: 42161,
    explorer: 'https://arbiscan.io/tx/{tx}',
    assets: [
      ether,
      wrappedEther('0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'),
      { symbol: 'USDC', contract: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831', decimals: 6 },
      { symbol: 'USDC.e', contract: '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8', decimals: 6 },
      { symbol: 'USDT', contract: '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', decimals: 6 },
    ],
  },
  {
    name: 'solana',
    family: 'solana',
    chainId: null,
    // Genesis hash of the cluster mainnet-beta.
    genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
    explorer: 'https://solscan.io/tx/{tx}',
    assets: [
      { symbol: 'SOL', contract: 'native', decimals: 9 },
      { symbol: 'WSOL', contract: 'So11111111111111111111111111111111111111112', decimals: 9 },
      { symbol: 'USDC', contract: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', decimals: 6 },
      { symbol: 'USDT', contract: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', decimals: 6 },
      // From Ethereum, by the Wormhole bridge.
      { symbol: 'USDCet', contract: 'A9mUU4qviSctJVPJdBJWkb28deg915LYJKrzQ19ji3FM', decimals: 6 },
      { symbol: 'USDTet', contract: 'Dn4noZ5jgGfkntzcQSUZ8czkreiZ1ForXYoV2H8Dm7S1', decimals: 6 },
    ],
  },
]
