import { sql } from 'kysely'
import { expect } from 'vitest'
import { contradictions } from '../oracle/books-of-chain.ts'
import { storeChain, type Watched } from '../oracle/evm-chain.ts'
import { addSolanaChain, type WatchedOnSolana } from '../oracle/solana-chain.ts'
import type { DaemonOnAnvil } from './daemon-on-anvil.ts'

/** Holds the books against the chains, once everything that is final there was read. */
export async function holdInvariants(
  { db, databaseUrl }: DaemonOnAnvil,
  ...watched: readonly (Watched | WatchedOnSolana)[]
): Promise<void> {
  await storeChain(
    databaseUrl,
    watched.filter((one) => 'token' in one),
  )
  for (const one of watched) if ('mint' in one) await addSolanaChain(databaseUrl, one)
  for (const [name, question] of Object.entries(contradictions)) {
    const answer = async () => (await sql.raw(question).execute(db)).rows
    await expect.poll(answer, { message: name }).toEqual([])
  }
}
