import { storeChain, type Watched } from './evm-chain.ts'
import { addSolanaChain, type WatchedOnSolana } from './solana-chain.ts'

export type WatchedChain = Watched | WatchedOnSolana

/** Puts beside the books what all of these chains hold now, as they tell it themselves. */
export async function storeChains(databaseUrl: string, watched: readonly WatchedChain[]): Promise<void> {
  await storeChain(
    databaseUrl,
    watched.filter((one) => 'token' in one),
  )
  for (const one of watched) if ('mint' in one) await addSolanaChain(databaseUrl, one)
}
