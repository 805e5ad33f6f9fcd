import { type Kysely, type KyselyPlugin, sql } from 'kysely'
import { encodeObservation, type Observation, type ObservedChainTransfer } from '../../src/core/evidence.ts'
import { type ApplyDeps, applyDue, applyPending } from '../../src/jobs/books/apply.ts'
import { verifyBooks } from '../../src/jobs/books/verify-books.ts'
import { recordDecisions } from '../../src/store/books/proposals.ts'
import { type BooksDigestEntry, readHoldings } from '../../src/store/books/rebuild.ts'
import { appendChainTransfers } from '../../src/store/chain/chain-transfers.ts'
import { appendFailures } from '../../src/store/chain/named-transactions.ts'
import { inTransaction, openDatabase } from '../../src/store/database.ts'
import { appendInbox } from '../../src/store/inbox.ts'
import { saveOwner } from '../../src/store/owners.ts'
import type { Tables } from '../../src/store/tables.ts'
import { openBooks } from './books.ts'
import { at, liquidity, policy } from './evidence.ts'
import { backApproval } from './made-up-routes.ts'

/** What happens after a batch of evidence has come in. */
export type Turn = {
  observations: readonly Observation[]
  minute: number
  /** Each worker takes batches of so many rows until nothing waits. */
  workers: readonly number[]
  /** The statement at which the first worker's process is gone; null where it lives. */
  crashAt: number | null
  /** Every so manieth row that was applied waits again, as after a commit of which nobody was told; 0 for none. */
  waitsAgain: number
}

export type Outcome = {
  holdings: readonly BooksDigestEntry[]
  live: string
  rebuilt: string
  differing: readonly unknown[]
  due: number
}

/** Long after every deadline. */
const late = at(3000)

/** A real database whose books can be emptied, and made by any course of events. */
export async function openConvergingBooks() {
  const books = await openBooks({
    rules: { policy, routes: [], senders: new Set([`arbitrum/${liquidity}`, `base/${liquidity}`]) },
  })
  const owner = openDatabase<Tables>({ url: books.url, poolMax: 1, applicationName: 'test owner' })
  const { owner: till, network, address, forward } = backApproval
  const back = forward && { ...forward, asset: 'USDC' }
  await saveOwner(owner, { owner: till, deposits: [{ network, address }], forward: back })
  return {
    async run(turns: readonly Turn[]): Promise<Outcome> {
      await empty(owner)
      for (const turn of turns) await take(books.deps, owner, turn)
      return settle({ ...books.deps, now: () => late })
    },
    async [Symbol.asyncDispose]() {
      await owner.destroy()
      await books[Symbol.asyncDispose]()
    },
  }
}

/** Only who owns the tables, and switches off what guards them, can do this. */
async function empty(owner: Kysely<Tables>): Promise<void> {
  const tables = [
    'credit_safety',
    'event',
    'event_pending',
    'ledger_transfer',
    'ledger_journal',
    'ledger_account',
    'mismatch_event',
  ]
  tables.push(
    'mismatch',
    'deposit',
    'withdrawal',
    'evidence',
    'link_key',
    'evidence_group',
    'named_transaction',
    'leg_search',
    'chain_transfer',
  )
  tables.push('inbox_pending', 'inbox')
  const statements = tables.map((name) => `delete from ${name}`)
  await owner
    .transaction()
    .execute((tx) =>
      sql.raw(['set local session_replication_role = replica', ...statements].join('; ')).execute(tx),
    )
}

async function take(deps: ApplyDeps, owner: Kysely<Tables>, turn: Turn): Promise<void> {
  const { observations, minute, workers, crashAt, waitsAgain } = turn
  await receive(owner, observations)
  const now = () => at(minute)
  if (crashAt !== null) {
    const db = deps.db.withPlugin(crashAfter(crashAt))
    await applyPending({ ...deps, db, now }).catch(expectCrash)
  }
  await Promise.all(workers.map((rowsMax) => work({ ...deps, now }, rowsMax)))
  if (waitsAgain > 0)
    await sql`insert into inbox_pending (inbox_id, received_at) select id, received_at from inbox where id % ${waitsAgain} = 0 on conflict do nothing`.execute(
      owner,
    )
}

/** What is due may ask for a search, which comes in as evidence. */
async function work(deps: ApplyDeps, rowsMax: number): Promise<void> {
  while ((await applyPending(deps, { rowsMax, bytesMax: 1_000_000 })).rows > 0) continue
  while ((await applyDue(deps)).groups > 0) await applyPending(deps, { rowsMax, bytesMax: 1_000_000 })
}

async function settle(deps: ApplyDeps): Promise<Outcome> {
  await work(deps, 500)
  const holdings = await inTransaction(deps.db, async (tx) => {
    const all: BooksDigestEntry[] = []
    for await (const some of readHoldings(tx)) all.push(...some)
    return all
  })
  const verified = await verifyBooks(deps, { subjectsMax: 5, onProgress: () => undefined })
  const { live, rebuilt, differences, due } = verified
  return { holdings, live, rebuilt, differing: differences, due }
}

class Crash extends Error {}

function expectCrash(error: unknown): void {
  if (!(error instanceof Crash)) throw error
}

/** Lets so many statements through; then everything that the transaction did is gone. */
function crashAfter(statements: number): KyselyPlugin {
  let left = statements
  return {
    transformQuery({ node }) {
      if (left-- <= 0) throw new Crash()
      return node
    },
    transformResult: ({ result }) => Promise.resolve(result),
  }
}

/** Stores observations as those who bring them do; a decision of a person takes more than the daemon may. */
async function receive(db: Kysely<Tables>, observations: readonly Observation[]): Promise<void> {
  const chainTransfers = observations.filter(
    (one): one is ObservedChainTransfer => one.kind === 'chain_transfer',
  )
  const failures = observations.filter((one) => one.kind === 'failure')
  const decisions = observations.filter((one) => one.kind === 'decision')
  const stated = observations.filter((one) => one.kind === 'claim' || one.kind === 'withdrawal')
  const rows = distinct(stated).map((one) => ({
    source: one.kind === 'claim' ? one.source : ('api' as const),
    sourceKey: encodeObservation(one),
    headers: {},
    receivedAt: one.receivedAt,
    body: Buffer.from(encodeObservation(one)),
  }))
  await inTransaction(db, async (tx) => {
    await appendChainTransfers(tx, distinct(chainTransfers))
    await appendFailures(tx, distinct(failures))
    await recordDecisions(tx, distinct(decisions))
    if (rows.length > 0) await appendInbox(tx, rows)
  })
}

function distinct<Item extends Observation>(all: readonly Item[]): Item[] {
  return [...new Map(all.map((one) => [encodeObservation(one), one])).values()]
}
