import { address } from '@solana/kit'
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { ReaderBounds, ReaderOptions } from '../../src/chain/options.ts'
import { createSolanaReader } from '../../src/chain/solana/reader.ts'
import type { NetworkSettings, ScanCursor } from '../../src/chain/types.ts'
import { type Address, assetKey, type NetworkName } from '../../src/core/asset.ts'
import { drain } from './evm-watch.ts'
import { type Effect, newAddress } from './solana-ledger.ts'
import { type SolanaTestNode, startSolanaNode } from './solana-node.ts'

export const solana = 'solana' as NetworkName
export const owner = newAddress()
export const payer = newAddress()
export const watched = new Set([owner])
const payerAccount = newAddress()

export type SolanaFixture = {
  node: SolanaTestNode
  usdc: Address
  /** The owner's associated account of the mint. */
  associated: Address
  /** Where reading stands before a test has done anything. */
  start: ScanCursor
  settings(decimals?: number): NetworkSettings
  reader(bounds?: Partial<ReaderBounds>): ReturnType<typeof createSolanaReader>
  /** What is read on from a cursor, as transaction, index and amount. */
  found(cursor?: ScanCursor, bounds?: Partial<ReaderBounds>): Promise<[string, string, bigint][]>
}

/** The ways in which a scan can read; tests of what is found hold for each. */
export const solanaStrategies = ['by_owner', 'by_block'] as const

export async function openSolanaFixture(
  solanaStrategy: NonNullable<ReaderOptions['solanaStrategy']> = 'by_owner',
): Promise<SolanaFixture> {
  const node = await startSolanaNode()
  const usdc = node.addMint(6)
  const settings = (decimals = 6) => settingsFor(node.url, { usdc, decimals })
  const reader = (bounds: Partial<ReaderBounds> = {}) =>
    createSolanaReader(settings(), { bounds: { quotaWaitMs: 0, ...bounds }, solanaStrategy })
  const { cursor: start } = await drain(reader(), watched, { cursor: null })
  const found: SolanaFixture['found'] = async (cursor = start, bounds = {}) => {
    const { transfers } = await drain(reader(bounds), watched, { cursor })
    return transfers.map(({ tx, index, amount }) => [tx, index, amount])
  }
  return { node, usdc, associated: await associatedAccount(usdc), start, settings, reader, found }
}

/** What a payment of tokens to one of the owner's accounts does. */
export function pays(account: Address, amount: bigint, mint: Address): Effect[] {
  return [
    { account: payerAccount, token: { mint, owner: payer, before: amount, after: 0n } },
    { account, token: { mint, owner, before: 0n, after: amount } },
  ]
}

function settingsFor(url: string, { usdc, decimals }: { usdc: Address; decimals: number }): NetworkSettings {
  const assets = [
    { key: assetKey(solana, usdc), network: solana, symbol: 'USDC', decimals },
    { key: assetKey(solana, 'native'), network: solana, symbol: 'SOL', decimals: 9 },
  ]
  return { name: solana, family: 'solana', chainId: null, rpcUrls: [url], assets }
}

export async function associatedAccount(mint: Address): Promise<Address> {
  const seeds = { owner: address(owner), mint: address(mint), tokenProgram: TOKEN_PROGRAM_ADDRESS }
  const [account] = await findAssociatedTokenPda(seeds)
  return account as string as Address
}
