import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type PollDeps, pollDeposits } from '../../../src/jobs/poll/poll.ts'
import type { DepositClient } from '../../../src/provider/deposit-client.ts'
import { openDatabase } from '../../../src/store/database.ts'
import { takeLease } from '../../../src/store/streams.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at } from '../../support/evidence.ts'
import { goneSubjects, listedRecords } from '../../support/listed-records.ts'
import { type Listing, startListing } from '../../support/listing.ts'
import { tamper } from '../../support/tamper.ts'

let stack: AsyncDisposableStack
let books: Books
let listing: Listing
let deps: PollDeps
/** In minutes of the made-up world. */
let clock: number

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  books = stack.use(await openBooks())
  listing = stack.use(await startListing({}))
  clock = 600
  // A lease has run out as soon as it was taken: whoever else asks for it has it.
  const times = { leaseMs: 0, overlapMs: 9_999 * 60_000, sweepEveryMs: 0, now: () => at(clock) }
  deps = { db: books.db, client: listing.client, holder: 'late', ...times }
})
afterEach(() => stack.disposeAsync())

const another = () => ({ ...deps, holder: 'another' })
const lost = { code: 'lease_lost', details: { stream: 'poll' } }

async function stored(): Promise<string[]> {
  const rows = await books.db.selectFrom('api_record').select('service_id').orderBy('service_id').execute()
  return rows.map(({ service_id }) => service_id)
}

test('a page that comes in once another one reads is not written, and no further one is asked for', async () => {
  listing.records = listedRecords(25)
  listing.before = async () => {
    if (listing.asked.length !== 2) return
    await takeLease(books.db, { stream: 'poll', holder: 'another', ttlMs: 600_000 })
  }
  await expect(pollDeposits(deps)).rejects.toMatchObject(lost)
  expect(listing.asked).toHaveLength(2)
  expect(await stored()).toHaveLength(10)
})

test('what one read for so long that another read it all is not written over that', async () => {
  listing.records = listedRecords(5)
  listing.before = async () => {
    listing.before = () => undefined
    await pollDeposits(another())
    listing.records = listedRecords(9)
  }
  await expect(pollDeposits(deps)).rejects.toMatchObject(lost)
  expect(await stored()).toHaveLength(5)
})

test('one that has the stream again by now, under another fence, writes as little', async () => {
  listing.records = listedRecords(5)
  listing.before = async () => {
    for (const holder of ['another', 'late']) await takeLease(books.db, { stream: 'poll', holder, ttlMs: 0 })
  }
  await expect(pollDeposits(deps)).rejects.toMatchObject(lost)
  expect(await stored()).toEqual([])
})

test('a run that a process began a second time, as its first one hung, leaves nothing to the first', async () => {
  listing.records = listedRecords(5)
  listing.before = async () => {
    listing.before = () => undefined
    await pollDeposits(deps)
    listing.records = listedRecords(9)
  }
  await expect(pollDeposits(deps)).rejects.toMatchObject(lost)
  expect(await stored()).toHaveLength(5)
})

test('that a record is gone is not told by one in whose place another reads', async () => {
  listing.records = listedRecords(5)
  await pollDeposits(deps)
  clock++
  listing.records = listedRecords(4)
  listing.before = async ({ pathname }) => {
    if (pathname.endsWith('/dep_4'))
      await takeLease(books.db, { stream: 'poll', holder: 'another', ttlMs: 600_000 })
  }
  await expect(pollDeposits(deps)).rejects.toMatchObject(lost)
  expect(await goneSubjects(books.db)).toEqual([])
  listing.before = () => undefined
  await pollDeposits({ ...another(), leaseMs: 600_000 })
  expect(await goneSubjects(books.db)).toEqual(['record/dep_4'])
})

test('nor is what was missed counted, where another one reads once the full reading is at its end', async () => {
  listing.records = listedRecords(5)
  await pollDeposits(deps)
  clock++
  listing.records = listedRecords(4)
  listing.asked.length = 0
  // Of one connection the next statement is that of who asked for it first.
  const db = openDatabase<Tables>({
    url: books.url,
    poolMax: 1,
    applicationName: 'late',
    role: 'depositd_daemon',
  })
  stack.defer(() => db.destroy())
  const taken: Promise<unknown>[] = []
  const now = () => {
    if (listing.asked.length === 2 && taken.length === 0)
      taken.push(takeLease(db, { stream: 'poll', holder: 'another', ttlMs: 600_000 }))
    return at(clock)
  }
  await expect(pollDeposits({ ...deps, db, now })).rejects.toMatchObject(lost)
  expect(await Promise.all(taken)).toMatchObject([{ holder: 'another' }])
  const missed = books.db.selectFrom('api_record').select('service_id').where('misses', '>', 0)
  expect(await missed.execute()).toEqual([])
})

/** Notes beside each record that is written who had the stream at that moment. */
const noteWritten = [
  'create table written (holder text, body text)',
  'grant select on written to public',
  `create function note_written() returns trigger language plpgsql security definer as $$ begin
    insert into public.written select holder, convert_from(new.body, 'UTF8')::jsonb ->> 'holder'
      from public.stream where name = 'poll';
    return null;
  end $$`,
  'create trigger written after insert on inbox for each row execute function note_written()',
]

/** Lists records of its own, three pages of one. */
function listOf(holder: string): DepositClient['listDeposits'] {
  return ({ mark }) => {
    const place = Number(mark ?? 0)
    const record = { id: `${holder} ${place}`, time: at(place), text: JSON.stringify({ holder, place }) }
    return Promise.resolve({
      records: [record],
      next: place < 2 ? { mark: `${place + 1}`, isDrift: false } : null,
    })
  }
}

test('of many that read at once, and take the stream from each other, each writes under its own fence', async () => {
  await tamper(books, ...noteWritten)
  const polls = Array.from({ length: 20 }, (_, place) => {
    const holder = `holder ${place}`
    return pollDeposits({ ...deps, holder, client: { ...deps.client, listDeposits: listOf(holder) } })
  })
  const ended = await Promise.allSettled(polls)
  const faults = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  for (const fault of faults) expect(fault).toMatchObject(lost)
  expect(faults.length).toBeGreaterThan(0)
  const { rows } = await sql<{ count: number; wrong: number }>`
    select count(*)::int as count, count(*) filter (where holder is distinct from body)::int as wrong
    from written`.execute(books.db)
  expect(rows[0]?.count).toBeGreaterThan(0)
  expect(rows[0]?.wrong).toBe(0)
})
