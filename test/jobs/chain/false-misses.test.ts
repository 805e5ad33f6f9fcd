import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type PollDeps, pollDeposits } from '../../../src/jobs/poll/poll.ts'
import { nothingRead, readAlone } from '../../../src/jobs/poll/read-records.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at } from '../../support/evidence.ts'
import { goneSubjects, listedRecords, savedPosition } from '../../support/listed-records.ts'
import { type ListForm, type Listing, startListing } from '../../support/listing.ts'

let stack: AsyncDisposableStack
let books: Books
let listing: Listing
let deps: PollDeps
/** In minutes of the made-up world. A full reading is due every ten. */
let clock: number

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  books = stack.use(await openBooks())
  clock = 1000
})
afterEach(() => stack.disposeAsync())

async function listedBy(form: ListForm): Promise<void> {
  listing = stack.use(await startListing(form))
  const times = { leaseMs: 600_000, overlapMs: 60_000, sweepEveryMs: 600_000, now: () => at(clock) }
  deps = { db: books.db, client: listing.client, holder: 'me', ...times }
}

async function pollAfter(minutes: number): Promise<void> {
  clock += minutes
  expect(await pollDeposits(deps)).not.toBeNull()
}

function leave(...ids: string[]): void {
  listing.records = listing.records.filter(({ id }) => !ids.includes(id))
}

test('one that cannot be read alone does not keep the others from being told of', async () => {
  await listedBy({})
  listing.records = listedRecords(25)
  await pollAfter(0)
  leave('dep_3', 'dep_4')
  listing.before = ({ pathname }) => (pathname.endsWith('dep_3') ? { status: 400, body: '' } : undefined)
  await expect(pollAfter(10)).rejects.toThrow('400')
  expect(await goneSubjects(books.db)).toEqual(['record/dep_4'])
})

test('one that is not found alone, and that no reading has missed, has not disappeared', async () => {
  await listedBy({})
  listing.records = listedRecords(25)
  await pollAfter(0)
  listing.before = () => ({ status: 404, body: 'no such route' })
  const reading = nothingRead()
  await readAlone(deps, ['dep_3'], reading)
  expect([reading.mismatches, await goneSubjects(books.db)]).toEqual([[], []])
})

test('one that a list brought while it was asked for alone has not disappeared', async () => {
  await listedBy({})
  listing.records = listedRecords(25)
  await pollAfter(0)
  await sql`update api_record set misses = 1 where service_id = 'dep_24'`.execute(books.db)
  listing.before = async ({ pathname }) => {
    if (!pathname.endsWith('dep_24')) return undefined
    listing.before = () => undefined
    await pollDeposits({ ...deps, now: () => at(clock + 1) })
    await sql`update api_record set misses = 1 where service_id = 'dep_24'`.execute(books.db)
    return { status: 404, body: '' }
  }
  const reading = nothingRead()
  await readAlone(deps, ['dep_24'], reading)
  expect(reading.mismatches).toEqual([])
})

test('a process whose clock is behind takes a full reading over and misses nothing', async () => {
  await listedBy({ one: undefined })
  listing.pageMax = 1
  listing.records = listedRecords(60)
  await pollAfter(0)
  clock -= 1
  expect(await pollDeposits(deps)).not.toBeNull()
  expect(await savedPosition(books.db)).toMatchObject({ sweep: null })
  const { rows } = await sql`select service_id from api_record where misses > 0`.execute(books.db)
  expect(rows).toEqual([])
})

test('a place kept of a list is of no use for one that is read in another way', async () => {
  await listedBy({})
  listing.pageMax = 1
  listing.records = listedRecords(60)
  await pollAfter(0)
  expect((await savedPosition(books.db)).sweep).not.toBeNull()
  await listedBy({ pages: 'since', order: 'oldest-first', since: { parameter: 'since', of: 'created' } })
  listing.records = listedRecords(60)
  await pollAfter(1)
  expect(await savedPosition(books.db)).toMatchObject({ sweep: null, sweptAt: at(1001).getTime() })
})

test('a record that grew too old while all were read is not missed', async () => {
  await listedBy({ keptDays: 1 })
  listing.pageMax = 1
  listing.records = listedRecords(60)
  clock = 1430
  await pollAfter(0)
  await pollAfter(1)
  await pollAfter(10)
  leave('dep_5')
  await pollAfter(6)
  expect(await savedPosition(books.db)).toMatchObject({ sweep: null, sweptAt: at(1441).getTime() })
  expect(await goneSubjects(books.db)).toEqual([])
})
