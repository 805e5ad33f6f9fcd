import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type PollDeps, pollDeposits } from '../../../src/jobs/poll/poll.ts'
import { beginning, type PollPosition } from '../../../src/jobs/poll/position.ts'
import { nothingRead, type PollReport, readAlone } from '../../../src/jobs/poll/read-records.ts'
import { takeLease } from '../../../src/store/streams.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at, claim, payment } from '../../support/evidence.ts'
import { type ListedRecord, type ListForm, type Listing, startListing } from '../../support/listing.ts'

let stack: AsyncDisposableStack
let books: Books
let listing: Listing
let deps: PollDeps

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  books = stack.use(await openBooks())
  await listedBy({})
})
afterEach(() => stack.disposeAsync())

/** From here on the service lists so; all records were read, and read in full, just now. */
async function listedBy(form: ListForm, position: Partial<PollPosition> = {}): Promise<void> {
  listing = stack.use(await startListing(form))
  const { client } = listing
  const clock = { now: () => at(600), leaseMs: 600_000, overlapMs: 60_000, sweepEveryMs: 360 * 60_000 }
  deps = { db: books.db, client, holder: 'me', ...clock }
  const now = at(600).getTime()
  const cursor = JSON.stringify({ ...beginning, backAt: now, sweptAt: now, ...position })
  await sql`insert into stream (name, cursor) values ('poll', ${cursor}::jsonb)
    on conflict (name) do update set cursor = excluded.cursor`.execute(books.db)
}

/** Records of these minutes of the made-up world. */
function listed(from: number, to: number): ListedRecord[] {
  return Array.from({ length: to - from + 1 }, (_, place) => ({
    id: `dep_${from + place}`,
    created_at: at(from + place).toISOString(),
    status: 'confirmed',
  }))
}

const hold = (one: ListedRecord) => (one.id === 'dep_600' ? { ...one, status: 'held' } : one)
const poll = (): Promise<PollReport | null> => pollDeposits(deps)

async function stored(): Promise<ListedRecord[]> {
  const { rows } = await sql<{ text: string }>`
    select convert_from(body, 'UTF8') as text from inbox where source = 'api' order by id`.execute(books.db)
  return rows.map(({ text }) => JSON.parse(text) as ListedRecord)
}
const stream = () => books.db.selectFrom('stream').selectAll().executeTakeFirstOrThrow()
const succeeded = async () => (await stream()).succeeded_at

test('a service that lists nothing is polled, too', async () => {
  expect(await poll()).toEqual({ pages: 1, stored: 0, drifts: 0, mismatches: [] })
  expect(await succeeded()).toBeInstanceOf(Date)
})

test('a record is stored once, and again each time that it changed, also back to what it was', async () => {
  for (const [status, count] of [
    ['confirmed', 1],
    ['confirmed', 0],
    ['settled', 1],
    ['confirmed', 1],
  ] as const) {
    listing.records = listed(599, 599).map((one) => ({ ...one, status }))
    expect(await poll()).toMatchObject({ stored: count })
  }
  expect((await stored()).map(({ status }) => status)).toEqual(['confirmed', 'settled', 'confirmed'])
})

test('what an earlier request brings later than a newer one did is passed over', async () => {
  listing.records = listed(599, 599)
  await poll()
  const settled = listed(599, 599).map((one) => ({ ...one, status: 'settled' }))
  listing.before = async () => {
    listing.before = () => undefined
    listing.records = settled
    await readAlone({ ...deps, now: () => at(601) }, ['dep_599'], nothingRead())
    listing.records = listed(599, 599)
  }
  await poll()
  expect((await stored()).map(({ status }) => status)).toEqual(['confirmed', 'settled'])
})

test('a record that stands on a page in two versions is kept in both', async () => {
  listing.records = [...listed(599, 599), ...listed(599, 599).map((one) => ({ ...one, status: 'held' }))]
  expect(await poll()).toMatchObject({ stored: 2 })
})

test('records without an id, and with characters that Postgres cannot keep, stop no page', async () => {
  const [one] = listed(599, 599)
  listing.records = [
    ...listed(598, 598),
    { ...one, id: 'dep\u0000\ud800' },
    { ...one, id: undefined },
  ] as ListedRecord[]
  expect(await poll()).toMatchObject({ stored: 3 })
  expect(await poll()).toMatchObject({ stored: 0 })
})

describe('how far back is read', () => {
  test('by the overlap, where no deposit is open', async () => {
    listing.records = listed(561, 600)
    expect(await poll()).toMatchObject({ pages: 1, stored: 10 })
    deps = { ...deps, overlapMs: 25 * 60_000 }
    expect(await poll()).toMatchObject({ pages: 3, stored: 20 })
  })

  test.each<ListForm>([{}, { since: { parameter: 'since', of: 'created' } }])(
    'beyond the last poll, however long ago: nothing that came and went meanwhile is left out of %j',
    async (form) => {
      await listedBy(form, { readAt: at(570).getTime() })
      listing.records = listed(500, 600)
      await poll()
      expect((await stored()).map(({ id }) => id)).toContain('dep_569')
    },
  )

  test('no further beyond the last poll than to where a full reading is due', async () => {
    await listedBy({}, { readAt: 0 })
    listing.records = listed(0, 600)
    expect((await poll())?.pages).toBe(37)
  })

  test('to the oldest deposit that is open, and no further', async () => {
    await books.receive(claim({ receivedAt: at(590) }), payment({ blockAt: at(580), receivedAt: at(590) }))
    await books.settle()
    await listedBy({}, { backAt: null })
    listing.records = listed(541, 600)
    expect(await poll()).toMatchObject({ pages: 4, stored: 30 })
  })

  test('to the last page, however old what is open may be', async () => {
    deps = { ...deps, overlapMs: 999 * 60_000 }
    listing.records = listed(576, 600)
    expect(await poll()).toMatchObject({ pages: 3, stored: 25 })
  })

  test('to what was updated since the last poll, where the service can tell', async () => {
    await listedBy({ since: { parameter: 'updated_since', of: 'updated' } }, { readAt: at(590).getTime() })
    const changed = { ...listed(1, 1)[0], updated_at: at(590.5).toISOString() } as ListedRecord
    listing.records = [changed, ...listed(2, 600)]
    expect(await poll()).toMatchObject({ pages: 2, stored: 12 })
    const from = new Date(at(590).getTime() - 5000).toISOString()
    expect(listing.asked[0]).toContain(`updated_since=${encodeURIComponent(from)}`)
    expect(await poll()).toMatchObject({ stored: 0 })
  })

  test('to the oldest that is open, where the service can tell what was created since', async () => {
    await listedBy({ since: { parameter: 'from', of: 'created' } }, { backAt: null })
    await books.receive(claim({ receivedAt: at(590) }), payment({ blockAt: at(580), receivedAt: at(590) }))
    await books.settle()
    listing.records = listed(541, 600)
    expect(await poll()).toMatchObject({ stored: 22 })
  })
})

describe.each(['cursor', 'page', 'offset', 'link'] as const)('a list by %s that is oldest first', (pages) => {
  beforeEach(() => listedBy({ pages, order: 'oldest-first' }, { sweptAt: null }))

  test('is read once as a whole, and then from its last page on', async () => {
    listing.records = listed(1, 45)
    expect(await poll()).toMatchObject({ stored: 45 })
    listing.records = listed(1, 58)
    listing.asked.length = 0
    expect(await poll()).toMatchObject({ stored: 13 })
    expect(listing.asked.length).toBeLessThanOrEqual(4)
    listing.asked.length = 0
    expect(await poll()).toMatchObject({ stored: 0 })
    expect(listing.asked.length).toBeLessThanOrEqual(2)
  })

  test('that fills no page yet is read again with each poll', async () => {
    listing.records = listed(1, 3)
    expect(await poll()).toMatchObject({ stored: 3 })
    listing.records = listed(1, 5)
    expect(await poll()).toMatchObject({ stored: 2 })
  })
})

test('where the service does not know a place any more, the list is read anew', async () => {
  await listedBy({ order: 'oldest-first' }, { tail: 'expired', sweep: { startedAt: 0, mark: 'expired' } })
  listing.records = listed(1, 45)
  for (let runs = 0; runs < 2; runs++) await poll()
  expect(await stored()).toHaveLength(45)
})

test('a record that comes in or changes while pages are read is stored by the next poll', async () => {
  deps = { ...deps, overlapMs: 999 * 60_000 }
  listing.records = listed(576, 600)
  listing.before = () => {
    if (listing.asked.length !== 2) return
    listing.records = [...listing.records.map(hold), ...listed(601, 601)]
  }
  expect(await poll()).toMatchObject({ pages: 3, stored: 25 })
  expect(await poll()).toMatchObject({ pages: 3, stored: 2 })
})

test('after a page that fails the next poll goes on there, and this one counts as not done', async () => {
  deps = { ...deps, overlapMs: 999 * 60_000 }
  listing.records = listed(576, 600)
  listing.before = () => (listing.asked.length === 2 ? { status: 500, body: 'broken' } : undefined)
  await expect(poll()).rejects.toThrow('500 broken')
  expect(await stored()).toHaveLength(10)
  expect(await succeeded()).toBeNull()
  expect(await poll()).toMatchObject({ pages: 2, stored: 15 })
})

test('a process whose poll failed leaves the next one to any other', async () => {
  listing.before = () => ({ status: 500, body: 'broken' })
  await expect(poll()).rejects.toThrow('500 broken')
  listing.before = () => undefined
  expect(await pollDeposits({ ...deps, holder: 'somebody else' })).not.toBeNull()
})

test('while another process polls, nothing is asked', async () => {
  await takeLease(books.db, { stream: 'poll', holder: 'somebody else', ttlMs: 600_000 })
  expect(await poll()).toBeNull()
  expect(listing.asked).toEqual([])
})

test('of twenty processes that poll at once, one does', async () => {
  listing.records = listed(599, 599)
  const race = Array.from({ length: 20 }, (_, place) => pollDeposits({ ...deps, holder: `holder ${place}` }))
  expect((await Promise.all(race)).filter((one) => one !== null)).toHaveLength(1)
  expect(listing.asked).toHaveLength(1)
})

test('while pages are read, the lease is renewed', async () => {
  deps = { ...deps, overlapMs: 999 * 60_000 }
  listing.records = listed(576, 600)
  const expiries: number[] = []
  listing.before = async () => void expiries.push((await stream()).expires_at.getTime())
  await poll()
  expect(new Set(expiries).size).toBe(3)
  expect(expiries).toEqual(expiries.toSorted((left, right) => left - right))
})

test('a service that refuses its own mark of the next page fails the poll', async () => {
  deps = { ...deps, overlapMs: 999 * 60_000 }
  listing.records = listed(576, 600)
  listing.before = () => (listing.asked.length === 2 ? { status: 400, body: '{}' } : undefined)
  await expect(poll()).rejects.toThrow('refused the mark')
  expect(await succeeded()).toBeNull()
  expect(await poll()).toMatchObject({ pages: 2, stored: 15 })
})
