import { type Kysely, sql } from 'kysely'
import {
  type Claim,
  decodeObservation,
  encodeObservation,
  type Observation,
  type ObservedChainTransfer,
} from '../../src/core/evidence.ts'
import { type ApplyDeps, applyDue, applyPending } from '../../src/jobs/books/apply.ts'
import { appendChainTransfers } from '../../src/store/chain/chain-transfers.ts'
import { appendSearches, takeDueSearches } from '../../src/store/chain/leg-searches.ts'
import { inTransaction, openDatabase } from '../../src/store/database.ts'
import { appendInbox } from '../../src/store/inbox.ts'
import type { Tables } from '../../src/store/tables.ts'
import { arbitrum, at, base, liquidity, policy } from './evidence.ts'
import { booksDatabase, type TestDatabase } from './postgres.ts'
import { fruitless } from './searched.ts'

/** Long after every deadline of the policy has passed. */
export const late = at(600)

export type Books = AsyncDisposable & {
  url: string
  db: Kysely<Tables>
  /** The owner of the tables, who may decide without signatures. */
  owner: Kysely<Tables>
  deps: ApplyDeps
  /** Stores observations as the scan, the poll and the intake do. */
  receive: (...observations: Observation[]) => Promise<void>
  /** Applies all that is stored, and all whose time has come. */
  settle: () => Promise<void>
}

/** A migrated database that knows the assets and owners of the made-up world, worked on as the daemon's role. */
export async function openBooks(changes: Partial<ApplyDeps> = {}): Promise<Books> {
  return openBooksIn(await booksDatabase(), changes)
}

export function openBooksIn(database: TestDatabase, changes: Partial<ApplyDeps> = {}): Books {
  const db = openDatabase<Tables>({
    url: database.url,
    poolMax: 20,
    applicationName: 'test',
    role: 'depositd_daemon',
  })
  const owner = openDatabase<Tables>({ url: database.url, poolMax: 20, applicationName: 'test owner' })
  const deps: ApplyDeps = {
    db,
    readClaim({ body }) {
      const observation = decodeObservation(body.toString())
      return observation.kind === 'withdrawal'
        ? { kind: 'withdrawal', withdrawal: observation }
        : { kind: 'claim', claim: observation as Claim }
    },
    rules: { policy, routes: [], senders: new Set([`arbitrum/${liquidity}`]) },
    readNetworks: new Set([base, arbitrum]),
    now: () => late,
    ...changes,
  }
  return {
    url: database.url,
    db,
    owner,
    deps,
    receive: (...observations) => receive(db, observations),
    settle: () => settle(deps, changes.readNetworks === undefined),
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await owner.destroy()
      await database.drop()
    },
  }
}

async function receive(db: Kysely<Tables>, observations: readonly Observation[]): Promise<void> {
  const chainTransfers = observations.filter(
    (one): one is ObservedChainTransfer => one.kind === 'chain_transfer',
  )
  await inTransaction(db, (tx) => appendChainTransfers(tx, chainTransfers))
  const stated = observations.filter((one) => one.kind === 'claim' || one.kind === 'withdrawal')
  const rows = stated.map((one) => ({
    source: one.kind === 'claim' ? one.source : ('api' as const),
    sourceKey: encodeObservation(one),
    body: Buffer.from(encodeObservation(one)),
    headers: {},
    receivedAt: one.receivedAt,
  }))
  if (rows.length > 0) await appendInbox(db, rows)
}

/** @param isMadeUp no chain is read, so that searches are answered here */
async function settle(deps: ApplyDeps, isMadeUp: boolean): Promise<void> {
  while ((await applyPending(deps)).rows > 0) continue
  while ((await applyDue(deps)).groups > 0) continue
  if (isMadeUp && (await searchInVain(deps)) > 0) await settle(deps, isMadeUp)
}

/** What was received is all that the chains of the made-up world hold. */
async function searchInVain({ db, now }: ApplyDeps): Promise<number> {
  const receivedAt = now()
  const places = { rowsMax: 1000, firstPauseMs: 1e9 }
  const due = [base, arbitrum].map((network) => takeDueSearches(db, { network, now: receivedAt }, places))
  const searches = (await Promise.all(due)).flat()
  return inTransaction(db, (tx) =>
    appendSearches(
      tx,
      searches.map((one) => fruitless(one, { serviceId: one.serviceId, receivedAt })),
    ),
  )
}

/** A deposit's row with nothing behind it, for tests of what hangs on one. */
export async function makeDeposit(db: Kysely<Tables>, transfer: string): Promise<bigint> {
  const { rows } = await sql<{ id: bigint }>`
    with made as (insert into evidence_group (recheck_at) values (null) returning id)
    insert into deposit (group_id, transfer, state, matrix) select id, ${transfer}, 'confirmed', '{}' from made
    returning id`.execute(db)
  return rows[0]?.id ?? 0n
}
