import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type PollDeps, pollDeposits } from '../../../src/jobs/poll/poll.ts'
import type { PollPosition } from '../../../src/jobs/poll/position.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at } from '../../support/evidence.ts'
import { listedRecords, savedPosition } from '../../support/listed-records.ts'
import { type ListedRecord, type ListForm, type Listing, startListing } from '../../support/listing.ts'

const since: ListForm = { since: { parameter: 'since', of: 'updated' } }

let stack: AsyncDisposableStack
let books: Books
let listing: Listing
let deps: PollDeps
/** In minutes of the made-up world. */
let clock: number

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  books = stack.use(await openBooks())
  clock = 1000
})
afterEach(() => stack.disposeAsync())

/** One record to a page: what is recent is longer than a run may read. */
async function listedBy(form: ListForm): Promise<void> {
  listing = stack.use(await startListing(form))
  listing.pageMax = 1
  const overlapMs = 1000 * 60_000
  const times = { leaseMs: 600_000, overlapMs, sweepEveryMs: Number.MAX_SAFE_INTEGER, now: () => at(clock) }
  deps = { db: books.db, client: listing.client, holder: 'me', ...times }
  // With the full reading that is due first of all.
  await pollDeposits(deps)
  listing.asked.length = 0
}

async function poll(): Promise<PollPosition> {
  clock += 0.25
  await pollDeposits(deps)
  return savedPosition(books.db)
}

/** Updated a moment after the first poll. */
const updatedNow = (count: number) =>
  listedRecords(count).map((one) => ({ ...one, updated_at: at(1000).toISOString() }))

const stored = async () => (await books.db.selectFrom('api_record').select('service_id').execute()).length
const succeeded = async () =>
  (await books.db.selectFrom('stream').select('succeeded_at').executeTakeFirstOrThrow()).succeeded_at

const ways: [string, ListForm][] = [
  ['of what was updated since a time', since],
  ['by page that is newest first', { pages: 'page' }],
  ['that is oldest first', { order: 'oldest-first' }],
]

describe.each(ways)('what is recent of a list %s is more than one run reads: it', (_what, form) => {
  beforeEach(async () => {
    await listedBy(form)
    listing.records = updatedNow(250)
  })

  test('is read on in the next run, and counts as read with the last, as of when it began', async () => {
    const before = await succeeded()
    expect(await poll()).toMatchObject({
      readAt: at(1000).getTime(),
      window: { startedAt: at(1000.25).getTime() },
    })
    expect(await stored()).toBe(200)
    expect(await succeeded()).toEqual(before)
    const done = at(1000.25).getTime()
    expect(await poll()).toMatchObject({ readAt: done, window: null })
    expect(await stored()).toBe(250)
    expect((await succeeded())?.getTime()).toBeGreaterThan(before?.getTime() ?? 0)
  })

  test('begins again where the service does not know its place any more', async () => {
    const mark = (await poll()).window?.mark ?? ''
    listing.before = ({ searchParams }) =>
      [...searchParams.values()].includes(mark) && listing.asked.length < 210
        ? { status: 400, body: '{}' }
        : undefined
    const begun = { startedAt: at(1000.25).getTime() }
    expect(await poll()).toMatchObject({ readAt: at(1000).getTime(), window: begun })
    await poll()
    expect(await poll()).toMatchObject({ readAt: at(1000.25).getTime(), window: null })
    expect(await stored()).toBe(250)
  })
})

test('a window is left where the list is read in another way by now', async () => {
  await listedBy({})
  listing.records = listedRecords(250)
  await poll()
  deps = { ...deps, client: { ...deps.client, list: { ...deps.client.list, keptDays: 10 } } }
  expect((await poll()).window?.startedAt).toBe(at(1000.5).getTime())
})

test('what changes behind where it is read is in the next window, however long this one takes', async () => {
  await listedBy(since)
  deps = { ...deps, overlapMs: 60_000 }
  listing.records = listedRecords(1300).slice(1000)
  clock = 1300
  await poll()
  const held = { status: 'held', updated_at: at(1302).toISOString() }
  listing.records = listing.records.map((one) => (one.id === 'dep_1299' ? { ...one, ...held } : one))
  clock = 1400
  expect(await poll()).toMatchObject({ readAt: at(1300.25).getTime(), window: null })
  expect(await poll()).toMatchObject({ readAt: at(1400.5).getTime(), window: null })
  const changed = books.db.selectFrom('api_record').select('service_id').where('revision', '=', 2)
  expect(await changed.execute()).toEqual([{ service_id: 'dep_1299' }])
})

test('of pages that never end each run reads some, and the full reading and what was missed get their turn', async () => {
  await listedBy({})
  listing.records = listedRecords(3)
  await poll()
  listing.records = listedRecords(2)
  listing.before = ({ pathname }) => (pathname.endsWith('/dep_2') ? { status: 503, body: '' } : undefined)
  deps = { ...deps, sweepEveryMs: 0 }
  await expect(poll()).rejects.toThrow('503')
  let next = 0
  const listDeposits = () => Promise.resolve({ records: [], next: { mark: `${next++}`, isDrift: false } })
  const endless = { ...deps, client: { ...deps.client, listDeposits } }
  const before = await succeeded()
  listing.before = () => undefined
  listing.asked.length = 0
  expect(await pollDeposits(endless)).toMatchObject({ pages: 250, mismatches: [{ change: 'opened' }] })
  expect(listing.asked).toEqual(['/v1/proxies/deposits/dep_2'])
  expect(await succeeded()).toEqual(before)
})

function updatedAt(minute: number, id: string): ListedRecord {
  return { id, created_at: at(0).toISOString(), updated_at: at(minute).toISOString(), status: 'confirmed' }
}

describe('records that a list of updates shows late', () => {
  test('are read back within a minute, as far as the overlap', async () => {
    await listedBy(since)
    deps = { ...deps, overlapMs: 10 * 60_000 }
    listing.records = [updatedAt(989, 'too_late'), updatedAt(991, 'late'), updatedAt(999.95, 'in_time')]
    await poll()
    expect(await stored()).toBe(1)
    clock = 1001
    await poll()
    expect(await stored()).toBe(2)
    expect(await savedPosition(books.db)).toMatchObject({ backAt: at(1001.25).getTime(), back: null })
  })

  test('are read some pages at a time, and recent ones first', async () => {
    await listedBy(since)
    listing.records = listedRecords(220)
    clock = 1001
    expect(await poll()).toMatchObject({ readAt: at(1001.25).getTime(), back: { mark: 'dep_120' } })
    expect(await stored()).toBe(100)
    expect(await succeeded()).not.toBeNull()
    listing.records.push(updatedAt(1001.4, 'new'))
    await poll()
    expect(await stored()).toBe(201)
    expect(await poll()).toMatchObject({ backAt: at(1001.25).getTime(), back: null })
    expect(await stored()).toBe(221)
  })

  test('are read from the start again if the service does not know its place any more', async () => {
    await listedBy(since)
    listing.records = listedRecords(220)
    clock = 1001
    const mark = (await poll()).back?.mark ?? ''
    listing.before = ({ searchParams }) =>
      [...searchParams.values()].includes(mark) ? { status: 400, body: '{}' } : undefined
    expect(await poll()).toMatchObject({ back: { startedAt: at(1001.25).getTime(), mark: null } })
    listing.before = () => undefined
    for (let runs = 0; runs < 3; runs++) await poll()
    expect(await savedPosition(books.db)).toMatchObject({ backAt: at(1001.25).getTime(), back: null })
  })
})
