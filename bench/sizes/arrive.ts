import { sql } from 'kysely'
import { defaultService } from '../../src/core/evidence.ts'
import { applyPending } from '../../src/jobs/books/apply.ts'
import { appendChainTransfers } from '../../src/store/chain/chain-transfers.ts'
import { type Database, inTransaction, openDatabase } from '../../src/store/database.ts'
import { appendInbox, type NewInboxRow } from '../../src/store/inbox.ts'
import { type ServiceRecord, saveRecords } from '../../src/store/records.ts'
import type { Tables } from '../../src/store/tables.ts'
import { backlog, type Message } from '../reconcile/backlog.ts'
import { applyDeps, keepOwnersOf, takeMessages } from '../reconcile/store-backlog.ts'

/** Ten million deposits a day, on average: so many lie between two words of one deposit. */
const depositsPerSecond = 116
/** About as often as autovacuum would, which begins once a fifth of a table is dead. */
const vacuums = 10
const pageLength = 100

/** What arrives about so many deposits, in order. */
export function arrivals(deposits: number): Generator<Message> {
  return backlog(deposits, depositsPerSecond)
}

/** For how long the lane that applies was busy; null where nothing was applied. */
export type Worked = { laneSeconds: number | null }

export type Ground = { db: Database<Tables>; url: string; deposits: number }

/**
 * Stores what arrives, so many rows at once, and applies it before more arrives: each word of a deposit is decided when
 * it comes, beside those that came before, as the daemon does while nothing waits.
 */
export async function arrive(
  { db, url, deposits }: Ground,
  rowsAtOnce: number,
  messages: Generator<Message> = arrivals(deposits),
): Promise<Worked> {
  await keepOwnersOf(db)
  await using daemon = openDatabase<Tables>({
    url,
    poolMax: 4,
    applicationName: 'bench',
    role: 'depositd_daemon',
  })
  const deps = applyDeps(daemon, deposits)
  const vacuumEvery = Math.ceil((4 * deposits) / vacuums)
  let arrived = 0
  let laneMs = 0
  const next = () => takeMessages(messages, rowsAtOnce)
  for (let some = next(); some.length > 0; some = next()) {
    await store(db, some)
    const startedAt = performance.now()
    while ((await applyPending(deps)).rows > 0);
    laneMs += performance.now() - startedAt
    const before = arrived
    arrived += some.length
    if (Math.floor(before / vacuumEvery) !== Math.floor(arrived / vacuumEvery)) await sql`vacuum`.execute(db)
  }
  return { laneSeconds: laneMs / 1000 }
}

/** As the scan, the intake and the poll do, each in a transaction of its own. */
async function store(db: Database<Tables>, messages: readonly Message[]): Promise<void> {
  const chainTransfers = messages.filter((one) => 'kind' in one)
  const rows = messages.filter((one) => 'sourceKey' in one)
  const webhooks = rows.filter(({ source }) => source === 'webhook')
  const records = rows.filter(({ source }) => source === 'api')
  if (chainTransfers.length > 0) await inTransaction(db, (tx) => appendChainTransfers(tx, chainTransfers))
  if (webhooks.length > 0) await inTransaction(db, (tx) => appendInbox(tx, webhooks))
  if (records.length > 0) await keep(db, records)
}

async function keep(db: Database<Tables>, rows: readonly NewInboxRow[]): Promise<void> {
  const receivedAt = new Date(Math.max(...rows.map((row) => row.receivedAt.getTime())))
  await inTransaction(db, (tx) =>
    saveRecords(tx, rows.map(recordOf), { service: defaultService, sentAt: receivedAt, receivedAt }),
  )
}

function recordOf({ sourceKey, body, receivedAt }: NewInboxRow): ServiceRecord {
  return { id: sourceKey.split(' ')[0] ?? null, time: receivedAt, text: body.toString() }
}

/** Each record once more, by page, as the service lists it again: none has changed. */
export async function listAgain({ db, deposits }: Ground): Promise<Worked> {
  const records = recordsOf(deposits)
  const next = () => takeMessages(records, pageLength)
  for (let page = next(); page.length > 0; page = next()) await keep(db, page)
  return { laneSeconds: null }
}

function* recordsOf(deposits: number): Generator<NewInboxRow> {
  for (const one of arrivals(deposits)) if ('sourceKey' in one && one.source === 'api') yield one
}
