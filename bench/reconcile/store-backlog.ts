import { byProgram } from '../../src/core/address-book.ts'
import { type Asset, assetNetwork } from '../../src/core/asset.ts'
import type { Policy } from '../../src/core/policy.ts'
import type { ApplyDeps } from '../../src/jobs/books/apply.ts'
import { createClaimReader } from '../../src/provider/read-claim.ts'
import { pinAssets } from '../../src/store/assets.ts'
import { appendChainTransfers } from '../../src/store/chain/chain-transfers.ts'
import { type Database, inTransaction } from '../../src/store/database.ts'
import { appendInbox } from '../../src/store/inbox.ts'
import { keepOwners } from '../../src/store/owners.ts'
import type { Tables } from '../../src/store/tables.ts'
import { at, policy, usdcOnArbitrum, usdcOnBase } from '../../test/support/evidence.ts'
import { vocabulary } from '../../test/support/own-payloads.ts'
import { ownProfile } from '../../test/support/profile.ts'
import { backlog, backlogOwners, type Message } from './backlog.ts'

const day = 86_400_000

/** Nothing is overdue before all of the backlog is applied. */
const patient: Policy = {
  ...policy,
  webhookWithinMs: 365 * day,
  apiWithinMs: 365 * day,
  chainWithinMs: 365 * day,
  reportWithinMs: 365 * day,
  settlementWithinMs: 365 * day,
  stuckAfterMs: 365 * day,
}

/** How the daemon applies what is stored here, long after the last of it arrived. */
export function applyDeps(db: Database<Tables>, deposits: number): ApplyDeps {
  const now = at(deposits / 60 + 5)
  return {
    db,
    readClaim: createClaimReader(ownProfile, vocabulary),
    rules: { policy: patient, routes: [], senders: new Set() },
    readNetworks: new Set(vocabulary.networks.map(({ name }) => name)),
    now: () => now,
  }
}

const messagesAtOnce = 400

/** Keeps the owners, and so many deposits in the inbox as the scan, the poll and the intake would. */
export async function storeBacklog(db: Database<Tables>, deposits: number): Promise<void> {
  await keepOwnersOf(db)
  const messages = backlog(deposits)
  const next = () => takeMessages(messages, messagesAtOnce)
  for (let some = next(); some.length > 0; some = next()) await store(db, some)
}

/** Keeps whoever is paid, and what with. */
export async function keepOwnersOf(db: Database<Tables>): Promise<void> {
  await pinAssets(db, [assetOf(usdcOnBase), assetOf(usdcOnArbitrum)])
  await inTransaction(db, (tx) => keepOwners(tx, backlogOwners(), byProgram))
}

/** @returns the next ones; none behind the last */
export function takeMessages<One extends Message>(messages: Generator<One>, atMost: number): One[] {
  const taken: One[] = []
  while (taken.length < atMost) {
    const { value } = messages.next()
    if (!value) break
    taken.push(value)
  }
  return taken
}

function store(db: Database<Tables>, messages: readonly Message[]): Promise<void> {
  return inTransaction(db, async (tx) => {
    await appendChainTransfers(
      tx,
      messages.filter((one) => 'kind' in one),
    )
    await appendInbox(
      tx,
      messages.filter((one) => 'sourceKey' in one),
    )
  })
}

function assetOf(key: Asset['key']): Asset {
  return { key, network: assetNetwork(key), symbol: 'USDC', decimals: 6 }
}
