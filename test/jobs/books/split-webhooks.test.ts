import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Claim, ServiceId } from '../../../src/core/evidence.ts'
import { type ApplyDeps, applyPending } from '../../../src/jobs/books/apply.ts'
import { replayKept } from '../../../src/jobs/books/replay.ts'
import { verifyBooks } from '../../../src/jobs/books/verify-books.ts'
import { createClaimReader } from '../../../src/provider/read-claim.ts'
import { digestBooks } from '../../../src/store/books/rebuild.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { appendInbox, newestSamples } from '../../../src/store/inbox.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { storeWebhooks } from '../../../src/store/webhooks.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at, delivery, payment, txId, webhook } from '../../support/evidence.ts'
import { ownEvent, ownRecord, vocabulary } from '../../support/own-payloads.ts'
import { batchingProfile, ownProfile } from '../../support/profile.ts'

/** A service that sends several events in one webhook. */

let books: Books
let db: Kysely<Tables>
let deps: ApplyDeps

beforeEach(async () => {
  books = await openBooks({ readClaim: createClaimReader(batchingProfile, vocabulary) })
  ;({ db, deps } = books)
})
afterEach(() => books[Symbol.asyncDispose]())

const deposits = [1, 2, 3].map((number) => {
  const [tx, forward] = [txId(`pay ${number}`), txId(`forward ${number}`)]
  return {
    claim: webhook({ serviceId: `dep_${number}` as ServiceId, deposit: { tx }, settlement: { tx: forward } }),
    transfers: [payment({ tx }), delivery({ tx: forward })],
  }
})
const claims = deposits.map(({ claim }) => claim)

/** What the chains and the API show of the first deposits. */
async function showOthers(count: number, { db: into, receive }: Books = books): Promise<void> {
  const shown = deposits.slice(0, count)
  await receive(...shown.flatMap(({ transfers }) => transfers))
  const rows = shown.map(({ claim }) => {
    const body = Buffer.from(JSON.stringify(ownRecord(claim, 'settled')))
    return { source: 'api', sourceKey: claim.serviceId, body, headers: {}, receivedAt: at(5) } as const
  })
  await appendInbox(into, rows)
}

const eventOf = (claim: Claim, status = 'settled') => ownEvent(claim, { type: 'deposit.settled', status })

async function post(key: string, events: readonly object[], into = db): Promise<void> {
  const body = Buffer.from(JSON.stringify({ delivery: key, events }))
  const row = { source: 'webhook', sourceKey: key, body, headers: {}, receivedAt: at(5) } as const
  await storeWebhooks(into, [{ ...row, copiesAt: [] }])
}

async function inboxRows() {
  const { rows } = await sql<{ key: string; item: string | null; says: string | null; isPending: boolean }>`
    select source_key as key, headers ->> ':item' as item, observation ->> 'serviceId' as says,
      inbox_pending.inbox_id is not null as "isPending"
    from inbox left join evidence on evidence.inbox_id = id left join inbox_pending on inbox_pending.inbox_id = id
    where source = 'webhook' order by id`.execute(db)
  return rows
}

const kinds = () => sql`select kind from mismatch where cleared_at is null`.execute(db)
const digest = (of: Kysely<Tables>) => inTransaction(of, digestBooks)

const allApplied = [
  { key: 'b1', item: null, says: 'dep_1', isPending: false },
  { key: 'b1 item:2', item: '2', says: 'dep_2', isPending: false },
  { key: 'b1 item:3', item: '3', says: 'dep_3', isPending: false },
]

test('each item becomes evidence of its own, and the books are those of single webhooks', async () => {
  await showOthers(3)
  await post(
    'b1',
    claims.map((one) => eventOf(one)),
  )
  await books.settle()
  expect(await inboxRows()).toEqual(allApplied)
  await using single = await openBooks({ readClaim: createClaimReader(batchingProfile, vocabulary) })
  await showOthers(3, single)
  for (const claim of claims) await post(claim.serviceId, [eventOf(claim)], single.db)
  await single.settle()
  expect(await digest(db)).toBe(await digest(single.db))
  const { rows } = await sql`select state, count(*)::int from deposit group by state`.execute(db)
  expect(rows).toEqual([{ state: 'reconciled', count: 3 }])
})

test('the books are rebuilt from a webhook of several items', async () => {
  await showOthers(3)
  await post(
    'b1',
    claims.map((one) => eventOf(one)),
  )
  await books.settle()
  const verified = await verifyBooks(deps, { subjectsMax: 10, onProgress: () => undefined })
  expect(verified).toMatchObject({ differing: 0, pending: 0, subjects: 3 })
})

test('a webhook that is applied again is not split again', async () => {
  await post(
    'b1',
    claims.map((one) => eventOf(one)),
  )
  await books.settle()
  await sql`insert into inbox_pending (inbox_id, received_at) select id, received_at from inbox`.execute(db)
  await books.settle()
  expect(await inboxRows()).toEqual(allApplied)
})

test('twenty at once split it once', async () => {
  await post(
    'b1',
    claims.map((one) => eventOf(one)),
  )
  await Promise.all(Array.from({ length: 20 }, () => applyPending(deps)))
  await books.settle()
  expect(await inboxRows()).toEqual(allApplied)
})

test('if a process is killed before the end, nothing is split; after it, the other items are pending', async () => {
  await post(
    'b1',
    claims.map((one) => eventOf(one)),
  )
  const killed = { ...deps, rules: null as never }
  await expect(applyPending(killed)).rejects.toThrow()
  expect(await inboxRows()).toEqual([{ key: 'b1', item: null, says: null, isPending: true }])
  await applyPending(deps)
  expect(await inboxRows()).toEqual(
    allApplied.map((row) => (row.item === null ? row : { ...row, says: null, isPending: true })),
  )
  await books.settle()
  expect(await inboxRows()).toEqual(allApplied)
})

test('deadlines wait for items that are pending', async () => {
  await showOthers(3)
  await post(
    'b1',
    claims.map((one) => eventOf(one)),
  )
  await applyPending(deps)
  const { rows } = await sql`select kind from mismatch`.execute(db)
  expect(rows).toEqual([])
})

test('a replay by a corrected profile splits what could not be read', async () => {
  await post(
    'b1',
    claims.map((one) => eventOf(one)),
  )
  const before = createClaimReader(ownProfile, vocabulary)
  while ((await applyPending({ ...deps, readClaim: before })).rows > 0) continue
  expect((await kinds()).rows).toEqual([{ kind: 'schema_drift' }])
  const filter = { kinds: ['schema_drift'], since: null } as const
  expect(await replayKept(deps, filter, () => undefined)).toMatchObject({ rows: 1, applied: 1 })
  await showOthers(3)
  await books.settle()
  expect(await inboxRows()).toEqual(allApplied)
  expect((await kinds()).rows).toEqual([])
})

test('an item that cannot be read is a mismatch of its own row, and is replayed alone', async () => {
  const [first, second, third] = claims as [Claim, Claim, Claim]
  await showOthers(3)
  await post('b1', [eventOf(first), eventOf(second, 'teleported'), eventOf(third)])
  await books.settle()
  expect((await inboxRows()).map(({ says }) => says)).toEqual(['dep_1', null, 'dep_3'])
  const { rows } = await sql<{ subject: string }>`
    select kind, detail ->> 'path' as path, source_key as key
    from mismatch join inbox on subject = 'inbox/' || inbox.id where kind = 'unknown_status'`.execute(db)
  expect(rows).toEqual([{ kind: 'unknown_status', path: 'events.1.data.status', key: 'b1 item:2' }])
  const { record } = batchingProfile
  const words = { ...record.status.words, teleported: 'settled' } as const
  const corrected = { ...batchingProfile, record: { ...record, status: { ...record.status, words } } }
  const readClaim = createClaimReader(corrected, vocabulary)
  const filter = { kinds: ['unknown_status'], since: null } as const
  expect(await replayKept({ ...deps, readClaim }, filter, () => undefined)).toMatchObject({ applied: 1 })
  expect(await inboxRows()).toEqual(allApplied)
})

test('one event in two webhooks is one deposit', async () => {
  const [first, second] = claims as [Claim, Claim]
  await showOthers(2)
  await post('b1', [eventOf(first), eventOf(second)])
  await post('b2', [eventOf(second), eventOf(first)])
  await books.settle()
  expect((await inboxRows()).map(({ key, says }) => [key, says])).toEqual([
    ['b1', 'dep_1'],
    ['b2', 'dep_2'],
    ['b1 item:2', 'dep_2'],
    ['b2 item:2', 'dep_1'],
  ])
  const { rows } = await sql`select state, count(*)::int from deposit group by state`.execute(db)
  expect(rows).toEqual([{ state: 'reconciled', count: 2 }])
  expect((await sql`select 1 from mismatch where cleared_at is null`.execute(db)).rows).toEqual([])
})

test('another body under the same id is split beside the first', async () => {
  const [first, second] = claims as [Claim, Claim]
  await post('b1', [eventOf(first), eventOf(second)])
  await books.settle()
  await post('b1', [eventOf(second), eventOf(first)])
  await books.settle()
  expect((await inboxRows()).map(({ says }) => says)).toEqual(['dep_1', 'dep_2', 'dep_2', 'dep_1'])
})

test('a webhook of several items is one sample', async () => {
  await post(
    'b1',
    claims.map((one) => eventOf(one)),
  )
  await books.settle()
  expect(await newestSamples(db, 'webhook', { limit: 10 })).toHaveLength(1)
})
