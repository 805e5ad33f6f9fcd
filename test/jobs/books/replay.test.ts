import type { Kysely } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ServiceId } from '../../../src/core/evidence.ts'
import { unreadableKinds } from '../../../src/core/mismatch.ts'
import { type ApplyDeps, batchMax } from '../../../src/jobs/books/apply.ts'
import { type ReplayCounts, replayKept } from '../../../src/jobs/books/replay.ts'
import type { Profile } from '../../../src/provider/profile/profile-schema.ts'
import { createClaimReader } from '../../../src/provider/read-claim.ts'
import { appendInbox } from '../../../src/store/inbox.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at, claim, delivery, payment, webhook } from '../../support/evidence.ts'
import { ownEvent, ownRecord, vocabulary } from '../../support/own-payloads.ts'
import { ownProfile } from '../../support/profile.ts'

let books: Books
let db: Kysely<Tables>

beforeEach(async () => {
  books = await openBooks({ readClaim: createClaimReader(ownProfile, vocabulary) })
  ;({ db } = books)
})
afterEach(() => books[Symbol.asyncDispose]())

/** The profile with one more status, and one more kind of event. */
const { webhook: events, record } = ownProfile
const mended: Profile = {
  ...ownProfile,
  webhook: {
    ...events,
    kind: events.kind && { ...events.kind, words: { ...events.kind.words, 'payout.done': 'deposit' } },
  },
  record: { ...record, status: { ...record.status, words: { ...record.status.words, paid_out: 'settled' } } },
}

const everything = { kinds: unreadableKinds, since: null }

function replay(
  filter: Parameters<typeof replayKept>[1] = everything,
  profile = mended,
): Promise<ReplayCounts> {
  const deps: ApplyDeps = { ...books.deps, readClaim: createClaimReader(profile, vocabulary) }
  return replayKept(deps, filter, () => undefined)
}

type Kept = { source: 'webhook' | 'api'; body: object; receivedAt?: Date }

async function store(...kept: Kept[]): Promise<void> {
  const rows = kept.map(({ source, body, receivedAt = at(4) }, place) => ({
    source,
    sourceKey: `${JSON.stringify(body)} ${place}`,
    body: Buffer.from(JSON.stringify(body)),
    headers: {},
    receivedAt,
  }))
  await appendInbox(db, rows)
  await books.settle()
}

const reported = () =>
  store(
    { source: 'webhook', body: ownEvent(webhook(), { type: 'deposit.settled', status: 'paid_out' }) },
    { source: 'api', body: ownRecord(claim(), 'paid_out') },
  )

async function openKinds(): Promise<string[]> {
  const open = await db.selectFrom('mismatch').select('kind').where('cleared_at', 'is', null).execute()
  return open.map(({ kind }) => kind).toSorted()
}

async function suspense(): Promise<bigint> {
  const rows = await db.selectFrom('ledger_transfer').selectAll().execute()
  const of = (side: 'credit' | 'debit') =>
    rows
      .filter((row) => row[side] === 'liabilities:suspense')
      .reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  return of('credit') - of('debit')
}

test('what no profile could read is applied once one can, and what was booked without it is put right', async () => {
  await books.receive(payment(), delivery())
  await reported()
  expect(await openKinds()).toEqual([
    'settlement_unreported',
    'unknown_status',
    'unknown_status',
    'unreported',
  ])
  expect(await suspense()).toBe(100_000_000n)
  expect(await replay()).toMatchObject({ rows: 2, applied: 2, unreadable: 0, passedOver: 0 })
  expect(await openKinds()).toEqual([])
  expect(await suspense()).toBe(0n)
  const deposits = await db.selectFrom('deposit').selectAll().where('merged_into', 'is', null).execute()
  expect(deposits).toMatchObject([{ state: 'reconciled', service_id: 'dep_1' }])
})

test('a second replay finds nothing, and twenty at once apply everything once', async () => {
  await books.receive(payment(), delivery())
  await reported()
  const all = await Promise.all(Array.from({ length: 20 }, () => replay()))
  expect(all.map(({ applied }) => applied).toSorted((left, right) => right - left)).toEqual([
    2,
    ...Array.from({ length: 19 }, () => 0),
  ])
  const journals = await db.selectFrom('ledger_transfer').selectAll().execute()
  expect(await replay()).toEqual({ rows: 0, applied: 0, passedOver: 0, unreadable: 0, journals: 0 })
  expect(await db.selectFrom('ledger_transfer').selectAll().execute()).toEqual(journals)
  expect(await openKinds()).toEqual([])
})

test('what still cannot be read stays open with its age, under the kind that fits now', async () => {
  const other = { ...ownRecord(claim(), 'paid_out'), source: null }
  await store({ source: 'api', body: other }, { source: 'api', body: ownRecord(claim(), 'teleported') })
  const before = await db.selectFrom('mismatch').selectAll().where('kind', '=', 'unknown_status').execute()
  expect(before).toHaveLength(2)
  expect(await replay()).toMatchObject({ rows: 2, applied: 0, unreadable: 2 })
  expect(await openKinds()).toEqual(['schema_drift', 'unknown_status'])
  const [same] = await db
    .selectFrom('mismatch')
    .selectAll()
    .where('kind', '=', 'unknown_status')
    .where('cleared_at', 'is', null)
    .execute()
  expect(before).toContainEqual(same)
})

test('one kind, or a time, is enough to ask for', async () => {
  await store(
    { source: 'webhook', body: ownEvent(webhook(), { type: 'payout.done', status: 'settled' }) },
    { source: 'api', body: ownRecord(claim(), 'paid_out'), receivedAt: at(50) },
  )
  expect(await replay({ kinds: ['schema_drift'], since: null })).toMatchObject({ rows: 0 })
  expect(await replay({ kinds: unreadableKinds, since: at(50) })).toMatchObject({ rows: 1, applied: 1 })
  expect(await replay({ kinds: ['unknown_event'], since: at(50) })).toMatchObject({ rows: 0 })
  expect(await replay({ kinds: ['unknown_event'], since: null })).toMatchObject({ rows: 1, applied: 1 })
})

test('what the profile passed over is read again where it is asked for', async () => {
  await store({ source: 'webhook', body: ownEvent(webhook(), { type: 'endpoint.test', status: 'settled' }) })
  expect(await openKinds()).toEqual([])
  expect(await replay()).toMatchObject({ rows: 0 })
  expect(await replay({ kinds: 'all', since: null })).toMatchObject({ rows: 1, passedOver: 1 })
  const listed: Profile = {
    ...ownProfile,
    webhook: {
      ...events,
      kind: events.kind && { ...events.kind, words: { 'endpoint.test': 'deposit' } },
    },
  }
  expect(await replay({ kinds: 'all', since: null }, listed)).toMatchObject({ rows: 1, applied: 1 })
  expect(await replay({ kinds: 'all', since: null }, listed)).toMatchObject({ rows: 0 })
})

test('more than one batch is read to its end, and the sum is told after each', async () => {
  const one = claim()
  const many = Array.from({ length: batchMax.rowsMax + 1 }, (_, place) => ({
    source: 'api' as const,
    body: ownRecord({ ...one, serviceId: `dep_${place}` as ServiceId }, 'teleported'),
  }))
  await store(...many)
  const sums: number[] = []
  await replayKept(books.deps, everything, ({ rows }) => sums.push(rows))
  expect(sums).toEqual([batchMax.rowsMax, batchMax.rowsMax + 1])
})
