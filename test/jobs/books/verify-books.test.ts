import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Observation } from '../../../src/core/evidence.ts'
import type { Amount } from '../../../src/core/money.ts'
import {
  type BooksVerification,
  type BooksVerificationProgress,
  verifyBooks,
} from '../../../src/jobs/books/verify-books.ts'
import type { Profile } from '../../../src/provider/profile/profile-schema.ts'
import { createClaimReader } from '../../../src/provider/read-claim.ts'
import { digestBooks } from '../../../src/store/books/rebuild.ts'
import { inTransaction, openDatabase } from '../../../src/store/database.ts'
import { appendInbox } from '../../../src/store/inbox.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import {
  at,
  channelAddress,
  claim,
  delivery,
  liquidity,
  payment,
  txId,
  withdrawal,
} from '../../support/evidence.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { ownRecord, vocabulary } from '../../support/own-payloads.ts'
import { ownProfile } from '../../support/profile.ts'
import { tamper } from '../../support/tamper.ts'

let books: Books
/** Whoever owns the tables can do what the daemon's role cannot. */
let owner: Kysely<Tables>

beforeEach(async () => {
  books = await openExampleBooks()
  owner = openDatabase<Tables>({ url: books.url, poolMax: 1, applicationName: 'test owner' })
})
afterEach(async () => {
  await owner.destroy()
  await books[Symbol.asyncDispose]()
})

const verify = (of = books, changes: Partial<Books['deps']> = {}): Promise<BooksVerification> =>
  verifyBooks({ ...of.deps, ...changes }, { subjectsMax: 100, onProgress: () => undefined })

const digest = (db: Kysely<Tables>) => inTransaction(db, digestBooks)

test('books that nobody touched are what the evidence says', async () => {
  const verified = await verify()
  expect(verified).toMatchObject({ rows: 25, groups: 7, subjects: 7, pending: 0, due: 0, differing: 0 })
  expect(verified.differences).toEqual([])
  expect(verified.rebuilt).toBe(verified.live)
  expect(await digest(books.db)).toBe(verified.live)
})

test('the journal of a withdrawal waits for a new decision as the withdrawal does', async () => {
  const amount = 40_000_000n as Amount
  await books.receive(withdrawal(), delivery({ tx: txId('pay out'), from: liquidity, amount }))
  await books.settle()
  expect(await verify()).toMatchObject({ subjects: 9, due: 0, differing: 0 })
  await sql`update evidence_group set recheck_at = now() - interval '10 years'
    where id = (select group_id from withdrawal)`.execute(books.db)
  expect(await verify()).toMatchObject({ subjects: 7, due: 2, differing: 0 })
})

test('all of it is told as it goes on', async () => {
  const reported: BooksVerificationProgress[] = []
  await verifyBooks(books.deps, { subjectsMax: 1, onProgress: (progress) => reported.push(progress) })
  expect(reported).toEqual([
    { stage: 'read', done: 25, of: 25 },
    { stage: 'decided', done: 7, of: 7 },
  ])
})

test('nothing is left of it, and the books stay as they are', async () => {
  const { rows: before } = await sql`select * from deposit order by id`.execute(books.db)
  await verify()
  expect((await sql`select * from deposit order by id`.execute(books.db)).rows).toEqual(before)
  const { rows } = await sql`select 1 from pg_class where relpersistence = 't'`.execute(books.db)
  expect(rows).toEqual([])
})

const unguarded = 'set local session_replication_role = replica'
const usdc = 'base/0x00000000000000000000000000000000000000b1'

/** What somebody did behind the back of the program, and what of it is named. */
const alterations: [string, string, object][] = [
  [
    'the state of a deposit',
    `update deposit set state = 'reconciled' where service_id = 'dep_5'`,
    { subject: 'deposit dep_5', what: 'deposit', live: /"reconciled"/, rebuilt: /"confirmed"/ },
  ],
  [
    'one digit of an amount',
    `update deposit set settlement_amount = settlement_amount + 1 where service_id = 'dep_1'`,
    { subject: 'deposit dep_1', what: 'deposit', live: /99900001/, rebuilt: /99900000/ },
  ],
  [
    'a deposit that was made up',
    `insert into deposit (group_id, service_id, state, matrix) select min(group_id), 'dep_9', 'observed', '{}' from deposit`,
    { subject: 'deposit dep_9', what: 'deposit', rebuilt: null },
  ],
  [
    'a mismatch that was cleared',
    `update mismatch set cleared_at = now(), cleared_how = 'evidence' where kind = 'unreported'`,
    { subject: /^payment base\//, what: 'mismatch', name: 'unreported', live: null },
  ],
  [
    'a mismatch that was made up',
    `insert into mismatch (subject, kind, severity, deposit_id, group_id, opened_at)
      select 'deposit/' || id, 'tx_reused', 'severe', id, group_id, now() from deposit where service_id = 'dep_1'`,
    { subject: 'deposit dep_1', what: 'mismatch', name: 'tx_reused', rebuilt: null },
  ],
  [
    'what a mismatch says',
    `update mismatch set detail = '{}' where kind = 'unreported'`,
    { what: 'mismatch', name: 'unreported', rebuilt: /the service has not reported/ },
  ],
  [
    'a leg that was added to a journal',
    `insert into ledger_transfer
      select journal_id, 9, debit, credit, asset, 7, event_at, recorded_at, period from ledger_transfer
      where journal_id = 1 and leg = 1`,
    {
      subject: 'deposit dep_1',
      what: 'books',
      name: `assets:in_transit:base ${usdc} at 2026-01-01T10:00:00.000000Z`,
      live: '100000007',
      rebuilt: '100000000',
    },
  ],
  [
    'the time of a journal',
    `update ledger_journal set event_at = event_at + interval '1 day' where id = 1`,
    {
      subject: 'deposit dep_1',
      what: 'books',
      name: `assets:in_transit:base ${usdc} at 2026-01-02T10:00:00.000000Z`,
      rebuilt: null,
    },
  ],
  [
    'a journal that was thrown away',
    `with gone as (delete from ledger_journal where id = 1 returning id)
      delete from ledger_transfer where journal_id in (select id from gone)`,
    {
      subject: 'deposit dep_1',
      what: 'books',
      name: `assets:in_transit:base ${usdc} at 2026-01-01T10:00:00.000000Z`,
      live: null,
    },
  ],
]

test.each(alterations)('%s is named', async (_what, statement, named) => {
  await owner.transaction().execute(async (tx) => {
    await sql.raw(unguarded).execute(tx)
    await sql.raw(statement).execute(tx)
  })
  const { differing, differences, live, rebuilt } = await verify()
  expect(differing).toBe(1)
  expect(rebuilt).not.toBe(live)
  const wanted = Object.entries(named).map(([key, value]) => [
    key,
    value instanceof RegExp ? expect.stringMatching(value) : value,
  ])
  expect(differences).toContainEqual(expect.objectContaining(Object.fromEntries(wanted)))
})

test('evidence that was altered is told of before anything is decided from it', async () => {
  await owner.transaction().execute(async (tx) => {
    await sql.raw(unguarded).execute(tx)
    await sql`update evidence set observation = jsonb_set(observation, '{amount}', '"1"')
      where observation ->> 'tx' = ${txId('pay6')}`.execute(tx)
  })
  const { differing, differences, live, rebuilt } = await verify()
  expect({ differing, isSame: live === rebuilt }).toEqual({ differing: 1, isSame: true })
  expect(differences).toEqual([
    {
      subject: expect.stringMatching(/^inbox\/\d+$/),
      what: 'evidence',
      name: '',
      live: expect.stringContaining('"amount": "1"'),
      rebuilt: expect.not.stringContaining('"amount": "1"'),
    },
  ])
  await sql`update evidence_group set recheck_at = ${at(0)}`.execute(owner)
  await books.settle()
  expect((await verify()).differences).toContainEqual(
    expect.objectContaining({ what: 'deposit', subject: expect.stringContaining(txId('pay6')) }),
  )
})

test('only so many of those that differ are told of, and all are counted', async () => {
  await sql`update deposit set state = 'held'`.execute(owner)
  const { differing, differences } = await verifyBooks(books.deps, {
    subjectsMax: 2,
    onProgress: () => undefined,
  })
  expect(differing).toBe(7)
  expect(new Set(differences.map(({ subject }) => subject)).size).toBe(2)
})

/** The profile with one more status. */
const mended: Profile = {
  ...ownProfile,
  record: {
    ...ownProfile.record,
    status: {
      ...ownProfile.record.status,
      words: { ...ownProfile.record.status.words, paid_out: 'settled' },
    },
  },
}

const young: Observation[] = [payment({ tx: txId('young'), receivedAt: at(2) })]

test('rows that wait to be applied are on neither side', async () => {
  await books.receive(...young)
  expect(await verify()).toMatchObject({ pending: 1, rows: 25, differing: 0 })
})

test('what is due and was not decided again yet is not called a difference', async () => {
  await using early = await openBooks({ now: () => at(3) })
  await early.receive(...young)
  await early.settle()
  expect(await verify(early)).toMatchObject({ due: 0, subjects: 1, differing: 0 })
  const later = { now: () => at(60) }
  expect(await verify(early, later)).toMatchObject({ due: 1, subjects: 0, differing: 0 })
})

test('what nobody could read is the same payload that nobody can read', async () => {
  await using other = await openBooks({ readClaim: createClaimReader(ownProfile, vocabulary) })
  const body = Buffer.from(JSON.stringify(ownRecord(claim(), 'paid_out')))
  await appendInbox(other.db, [
    { source: 'api', sourceKey: 'dep_1', body, headers: {}, receivedAt: at(5) },
    { source: 'webhook', sourceKey: 'evt_1', body: Buffer.from('{'), headers: {}, receivedAt: at(5) },
  ])
  await other.settle()
  expect(await verify(other)).toMatchObject({ subjects: 2, differing: 0 })
  const readAll = { readClaim: createClaimReader(mended, vocabulary) }
  const { differing, differences } = await verify(other, readAll)
  expect(differing).toBe(3)
  expect(differences.map(({ subject, what, name }) => `${subject} ${what} ${name}`)).toEqual(
    expect.arrayContaining([
      'deposit dep_1 deposit ',
      'payload api dep_1 mismatch unknown_status',
      expect.stringMatching(/^inbox\/\d+ evidence $/),
    ]),
  )
})

test('where somebody changed the address book, what follows from it is told', async () => {
  await tamper(
    books,
    `update address_book set owner_kind = 'stable_wallet', owner_id = 'savings' where address = '${channelAddress}'`,
  )
  const { differences } = await verify()
  expect(differences).toContainEqual(
    expect.objectContaining({ subject: 'deposit dep_1', what: 'books', live: null }),
  )
})
