import { sql } from 'kysely'
import { expect } from 'vitest'
import { contradictions } from '../oracle/books-of-chain.ts'
import { storeChains, type WatchedChain } from '../oracle/store-chains.ts'
import type { DaemonOnAnvil } from './daemon-on-anvil.ts'

/** Holds the books against the chains, once everything that is final there was read. */
export async function holdInvariants(
  { db, databaseUrl }: DaemonOnAnvil,
  ...watched: readonly WatchedChain[]
): Promise<void> {
  await storeChains(databaseUrl, watched)
  for (const [name, question] of Object.entries(contradictions)) {
    const answer = async () => (await sql.raw(question).execute(db)).rows
    await expect.poll(answer, { message: name }).toEqual([])
  }
}
