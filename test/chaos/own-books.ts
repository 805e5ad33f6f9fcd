import { contradictions } from '../oracle/books-of-chain.ts'
import { storeChains, type WatchedChain } from '../oracle/store-chains.ts'
import { holdTruth } from './hold-truth.ts'
import { holdNoSecrets, holdResumed } from './liveness.ts'
import type { OwnGround } from './own-ground.ts'
import { untilSame } from './until-same.ts'

/**
 * Holds of an own ground what is held of the shared world, once everything that is final on its chains was read and it was
 * healed: work goes on, the books are what the chains say, and no secret was told. What its service says is a list, and no
 * webhooks.
 */
export async function holdOwnBooks(ground: OwnGround, ...watched: readonly WatchedChain[]): Promise<void> {
  await holdResumed(ground.living)
  await storeChains(ground.databaseUrl, watched)
  for (const [name, question] of Object.entries(contradictions)) {
    await untilSame(name, () => ground.rows(question), [])
  }
  const networks = watched.map(({ network, rpcUrl }) => ({ name: network, url: rpcUrl }))
  await holdTruth({ databaseUrl: ground.databaseUrl, serviceDatabaseUrl: null, networks })
  holdNoSecrets(ground.printing())
}

/**
 * The deposits that a transaction made, oldest first: the state of each, and what stands of it in the books.
 * @param every reversed journals and their reversals, too, in the order in which they were booked.
 */
export async function statesOf(ground: OwnGround, tx: string, every = false): Promise<string[]> {
  const stands = every
    ? 'true'
    : `kind <> 'reversal' and not exists (select from ledger_journal later where later.reverses = journal.id)`
  const rows = await ground.rows<{ line: string }>(
    `select concat_ws(' ', state, (
       select string_agg(kind, ' ' order by id) from ledger_journal journal
       where journal.transfer = deposit.transfer and ${stands}
     )) as line from deposit where tx = $1 and merged_into is null order by id`,
    [tx],
  )
  return rows.map(({ line }) => line)
}

export function untilStateIs(ground: OwnGround, tx: string, ...wanted: readonly string[]): Promise<void> {
  return untilSame(`the deposit of ${tx}`, () => statesOf(ground, tx), [...wanted])
}

/** What is booked of transactions on a network, in the order in which it was. */
export async function bookedOf(
  ground: OwnGround,
  network: string,
  txs: readonly string[],
): Promise<string[]> {
  const rows = await ground.rows<{ kind: string }>(
    `select kind from ledger_journal
     where split_part(transfer, '/', 1) = $1 and split_part(transfer, '/', 2) = any($2) order by id`,
    [network, txs],
  )
  return rows.map(({ kind }) => kind)
}
